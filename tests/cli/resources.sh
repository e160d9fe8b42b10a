#!/usr/bin/env bash
# resources.sh -- kgate resources on tables of kernels made by hand (tests/modules/made.c): what it says, writes and
# ends with. What nvcc makes of a planted spill is tests/build/resources.sh's.
set -eu
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

made() { # made NAME ARGUMENT... -- kgate resources of a module, against the goldens of this test
    local module=$modules/made_$1.so
    shift
    gate resources --module "$module" --expectations goldens "$@"
}
base=$modules/made_base.so
first='first<64>'

# ---- before anything is blessed
made base
expect 'nothing blessed: status' "$status" 4
expect_in 'nothing blessed: counts' out '3 kernels: 3 UNGATED'
made base --allow-undecided
expect 'nothing blessed, allowed: status' "$status" 0
made base --allow-undecided=new
expect 'nothing blessed, allowed as new: status' "$status" 0
expect_in 'nothing blessed, allowed as new: it is said' err '3 kernels are UNGATED and allowed'
made nothing
expect 'no kernels: status' "$status" 77
expect_in 'no kernels: why' out 'module made has no kernels of a GPU'

# ---- blessing
refused 'needs --reason' resources --module "$base" --expectations goldens --bless
refused 'cannot bless' resources --module "$base" --expectations goldens --bless --reason first
expect 'refused: nothing is written' "$(find . -name 'resources_*')" ''
made base --bless --reason first --allow-dirty
expect 'bless: status' "$status" 0
expect_in 'bless: says what' out 'blessed sm_90a/_Z6secondPf: new'
expect_in 'bless: and judges' out '3 kernels: 3 PASS'
expect 'bless: one kernel a line' "$(grep -c '"kernel":' goldens/resources_sm_90a.json)" 2
expect 'bless: an architecture a file' "$(grep -c '"kernel":' goldens/resources_sm_80.json)" 1
expect 'bless: it says that the tree was not clean' \
    "$(jq -c '[.kernels[].provenance | .dirty, .reason]' goldens/resources_sm_80.json)" '[true,"first"]'
before=$(sum goldens)
made base --bless --reason again --allow-dirty
expect 'bless of the same: nothing is written anew' "$(sum goldens)" "$before"
made base
expect 'blessed: status' "$status" 0
expect 'blessed: what passed is counted' "$(cat out)" 'sm_80: 1 PASS
sm_90a: 2 PASS
3 kernels: 3 PASS'
made base --verbose
expect 'blessed, verbose: a row a kernel' "$(grep -c '^PASS  ' out)" 3

# ---- what fails, and what does not
made spilled
expect 'spilled: status' "$status" 1
expect_in 'spilled: by name' out "FAIL sm_90a/$first: spill stores, bytes 0 -> 16; spill loads, bytes 0 -> 24; code changed"
expect_in 'spilled: as it is mangled' out '    _Z5firstILi64EEvPf'
expect_in 'spilled: counts' out '3 kernels: 2 PASS, 1 FAIL; 3 with other code'
expect 'spilled: a row and a reason of what failed' "$(grep -c '^FAIL  ' out) $(grep -c '^FAIL sm_' out)" '1 1'
expect 'spilled: none of what passed' "$(grep -c '^PASS' out || true)" 0
made spilled --allow-undecided
expect 'spilled, undecided allowed: status' "$status" 1
made spilled --format json
expect 'spilled, JSON: verdict' "$(results '.kernels[] | select(.verdict == "FAIL") | .arch + "/" + .short_name')" "sm_90a/$first"
expect 'spilled, JSON: figures' "$(results '.kernels[] | select(.verdict == "FAIL") |
    [.spill_store_bytes, .expected.spill_store_bytes, .tensor["mma.sync"]] | @csv')" '16,0,64'
expect 'spilled, JSON: status' "$(results .status)" 1
made slack
expect 'more registers within the slack: status' "$status" 0
expect_in 'more registers within the slack: it is said' out \
    "PASS sm_90a/$first: registers 120 -> 128; 4 blocks fit a multiprocessor, as before; code changed"
made newer
expect 'another nvcc: status' "$status" 4
expect_in 'another nvcc: it is named' out 'blessed with nvcc 13.0.88, this is nvcc 13.1.5'
made newer --allow-undecided=new
expect 'another nvcc, allowed as new: status' "$status" 0

# ---- new and gone
made other
expect 'one gone, one new: status' "$status" 4
expect_in 'gone' out 'LOST sm_90a/second: it was blessed, but the module has no such kernel'
expect_in 'new' out 'UNGATED sm_90a/third: no expectation'
made other --allow-undecided=new sm_90a/third
expect 'a new kernel beside blessed ones is not allowed as new' "$status" 4
made other --bless --reason other --allow-dirty
expect 'bless: what is gone stays LOST' "$status" 4
made other --bless --prune --reason other --allow-dirty
expect 'bless --prune: status' "$status" 0
expect_in 'bless --prune: says so' out 'pruned sm_90a/_Z6secondPf'
made base --bless --reason base --allow-dirty
made other --bless --prune --reason other --allow-dirty sm_90a/second
expect 'bless --prune of nothing but what is gone: status' "$status" 0
expect_in 'bless --prune of nothing but what is gone' out 'pruned sm_90a/_Z6secondPf'

# ---- patterns
made spilled 'sm_80'
expect 'an architecture: status' "$status" 0
expect_in 'an architecture' out '1 kernel: 1 PASS'
made spilled "*/$first"
expect_in 'a short name' out '2 kernels: 1 PASS, 1 FAIL'
refused 'no kernel matches nix' resources --module "$base" --expectations goldens nix

# ---- files that cannot be understood
sed -i 's/"registers":120/"registers":"many"/' goldens/resources_sm_80.json
refused 'resources_sm_80.json: kernel 1' resources --module "$base" --expectations goldens
refused '--shard does not go with this command' resources --module "$base" --shard 1/2
refused 'kgate resources knows text and json' resources --module "$base" --format tap
finish

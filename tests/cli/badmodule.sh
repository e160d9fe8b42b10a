#!/usr/bin/env bash
# badmodule.sh -- what is no module, or holds a wrong table, is refused with the row's name. The modules are made of bad.c.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

bad() { # bad NAME TEXT -- of the module bad_NAME.so
    refused "$2" list --module "$modules/bad_$1.so"
    refused "$2" run --module "$modules/bad_$1.so"
}

gate list --module "$modules/bad_nothing.so"
expect 'what the others differ from: status' "$status" 0
expect 'what the others differ from: cases' "$(wc -l <out)" 10

cp "$modules/bad_nothing.so" here.so
gate list --module here.so
expect 'a name that ends in .so is a path: status' "$status" 0

echo 'not an object file' >text.so
: >empty.so
mkdir folder.so
mkfifo fifo.so
head -c 8192 here.so >cut.so
refused 'no module at ./missing.so' run --module ./missing.so
refused 'no module at missing.so' run --module missing.so
refused 'no module nosuch beside kgate' run --module nosuch
refused 'no module  beside kgate' run --module ''
refused 'not a module: ' run --module ./text.so
refused 'not a module: ' run --module ./empty.so
refused 'not a module: ./folder.so is not a regular file' run --module ./folder.so
refused 'not a module: ./fifo.so is not a regular file' run --module ./fifo.so
refused 'not a module: ./cut.so is cut' run --module ./cut.so
for part in {1..39}; do # of fortieths; at the end are names and what debuggers read, which may be missing
    head -c $(($(wc -c <here.so) * part / 40)) here.so >part.so
    gate list --module ./part.so
    [ "$status" = 2 ] || [ "$status" = 0 ] || expect "cut after $part of 40 parts: status" "$status" 2
done
refused 'not a module: ' run --module "$kgate"
refused 'has no symbol kg_module' run --module "$(ldd "$kgate" | awk '/libcjson/ { print $3 }')"
refused 'no module at ./missing.so' doctor --module ./missing.so
bad root 'has no symbol kg_module'
bad symbol 'undefined symbol: kgate_has_no_such_function'
bad abi 'module of ABI 9, this kgate has 8: take a newer kgate'
bad old 'module of ABI 4, this kgate has 8: rebuild the module'
bad size 'module built against another kgate.h: rebuild the module'
bad row_size 'suite copies: rows of 24 bytes, but a problem of op copy has 16'
bad row_twice 'suite copies, row one: stands twice'
bad dimension 'suite copies, row two: n=0 is outside 1 to 4096'
bad seeds 'suite copies has no seeds'
bad seed_twice 'suite copies: seed 0 stands twice'
bad gate 'suite copies: max_abs, mean_abs, bad_abs and rel_l2 must all be given'
bad gate_nan 'suite copies: max_abs, mean_abs, bad_abs and rel_l2 must all be given'
bad name "suite copies: a row is named 'one row'"
bad backend_twice 'suite copies, backend plain: stands twice'
bad suite_twice 'suite copies stands twice'
bad anchor 'suite copies: anchor on_gpu cannot anchor this kind of device'
finish

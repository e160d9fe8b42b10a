#!/usr/bin/env bash
# badinput.sh -- a command line that says something wrong gets one line on stderr and status 2, and nothing is written.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

on=(--module "$broken") one=output/plain/s0/good

# ---- words ----

refused 'no command'
refused 'unknown command frobnicate' frobnicate
refused 'unknown option --frobnicate' run --frobnicate
refused 'unknown option -x' run "${on[@]}" $one -xy
refused 'unknown option --bless=yes' run --bless=yes
refused '--module wants a value' run $one --module
refused '--junit wants a value' list "${on[@]}" --junit
refused '--bless does not go with this command' list --bless
refused '--quiet does not go with --verbose' run "${on[@]}" $one --quiet --verbose
refused '--format tap' list "${on[@]}" --format tap
refused '--format yaml' run "${on[@]}" --format yaml
refused '--timer sundial' run "${on[@]}" --timer sundial
refused '--l2 tepid' run "${on[@]}" --l2 tepid
refused '--color mauve' run "${on[@]}" --color mauve
refused 'kgate doctor takes no pattern' doctor $one
refused 'kgate --version takes nothing more' --version $one
refused 'kgate version takes nothing more' version --format=json
refused "worker is kgate's own" worker
for option in --samples --rounds; do
    for value in 0 -1 1.5 x '' 1000001; do
        refused "$option $value" run "${on[@]}" $one $option "$value"
    done
done
for option in --threshold --timeout --case-timeout; do
    for value in 0 -1 nan inf 1e999 x ''; do
        refused "$option $value" run "${on[@]}" $one $option "$value"
    done
done
refused '--shuffle=x' run "${on[@]}" $one --shuffle=x
refused '--knob n: NAME=VALUE' run "${on[@]}" $one --knob n
refused '--knob n: no selected backend has it' run "${on[@]}" $one --knob n=1
refused '--library-path nowhere: there is no such folder' run "${on[@]}" $one --library-path nowhere
refused '--baseline-library-path nowhere: there is no such folder' run "${on[@]}" $one --against "$broken" --baseline-library-path nowhere
refused '--knob extra_pct=2000 is outside 0 to 1000' run "${on[@]}" 'speed/*' --knob extra_pct=2000
refused '--knob extra_pct=fast' run "${on[@]}" 'speed/*' --knob extra_pct=fast
refused '--git-sha 12' run "${on[@]}" $one --git-sha 12

# ---- selection ----

for command in list run; do
    refused 'bad pattern: it is empty' $command "${on[@]}" ''
    refused 'bad pattern output/[ab' $command "${on[@]}" 'output/[ab'
    refused "bad pattern output\\" $command "${on[@]}" "output\\"
    refused 'bad pattern [' $command "${on[@]}" --exclude '['
    refused 'no case matches nosuch/*' $command "${on[@]}" 'nosuch/*'
    refused 'no case matches nosuch/*' $command "${on[@]}" 'output/*' 'nosuch/*'
    refused 'no case selected' $command "${on[@]}" --exclude '*'
    refused 'unknown backend nosuch' $command "${on[@]}" --backend good,nosuch
    refused '--backend: nothing given' $command "${on[@]}" --backend ''
    refused '--backend: an empty value' $command "${on[@]}" --backend good,,zero
    refused '--set n=0 is outside 1 to 67108864' $command "${on[@]}" 'output/*' --set n=0
    refused '--set n=67108865 is outside' $command "${on[@]}" 'output/*' --set n=67108865
    refused '--set n=1e3 is not an integer' $command "${on[@]}" 'output/*' --set n=1e3
    refused '--set n=99999999999999999999 is not' $command "${on[@]}" 'output/*' --set n=99999999999999999999
    refused '--set std=nan is not a number' $command "${on[@]}" 'output/*' --set std=nan
    refused '--set std=0 is outside' $command "${on[@]}" 'output/*' --set std=0
    refused '--set depth: op series of suite output has no such field' $command "${on[@]}" 'output/*' --set depth=1
    refused '--set n: FIELD=VALUE wanted' $command "${on[@]}" 'output/*' --set n
    refused '--set =1: FIELD=VALUE wanted' $command "${on[@]}" 'output/*' --set =1
    refused '--set: nothing given' $command "${on[@]}" 'output/*' --set n=
    refused '--set: an empty value' $command "${on[@]}" 'output/*' --set n=1,,2
    refused '--set n: given twice' $command "${on[@]}" 'output/*' --set n=1 --set n=2
    refused '--set n=64 stands twice' $command "${on[@]}" 'output/*' --set n=64,064
    for seed in -1 x 1.5 '' 18446744073709551616 ' 1'; do
        refused '--seed' $command "${on[@]}" $one --seed "$seed"
    done
    refused '--seed 1: given twice' $command "${on[@]}" $one --seed 0,1,1
    for shard in 0/2 3/2 0/0 1 1/ /2 1/2/3 1/-1 -4294967295/2 ' 1/2' x/y; do
        refused "--shard $shard: I/N" $command "${on[@]}" --shard "$shard"
    done
    for device in gpu cuda: cuda:x cuda:-1 cuda:4294967295 cpu:0 ''; do
        refused "--device $device: auto, cpu" $command "${on[@]}" --device "$device"
    done
done
refused 'required device no_such_card is absent' run "${on[@]}" $one --require-device no_such_card
if "$kgate" run "${on[@]}" $one --no-time --device cuda >/dev/null 2>&1; then
    echo 'skipped: there is a GPU, so it cannot be asked for in vain'
else
    refused '--device cuda: ' run "${on[@]}" $one --device cuda
    refused 'required device cuda is absent' run "${on[@]}" $one --require-device cuda
    refused 'required device cuda is absent' run "${on[@]}" elsewhere --require-device cuda
fi

# ---- places that cannot be written ----

echo precious >file
refused 'cannot make folder file: Not a directory' run "${on[@]}" $one --output file
ln -s nowhere dangling
refused 'cannot make folder dangling: Not a directory' run "${on[@]}" $one --output dangling
refused 'cannot make folder file: Not a directory' run "${on[@]}" $one --output file/deeper
refused 'cannot make folder file: Not a directory' run "${on[@]}" $one --output file/deeper/still
refused 'cannot make folder ' run "${on[@]}" $one --output ''
refused 'file: Not a directory' run "${on[@]}" $one --expectations file
refused '--expectations: nothing given' run "${on[@]}" $one --expectations ''
expect 'the file in the way is what it was' "$(cat file)" precious
gate run "${on[@]}" $one --junit file/junit.xml
expect 'JUnit file that cannot be written: status' "$status" 2
expect_in 'JUnit file that cannot be written' err 'kgate: file/junit.xml cannot be written: Not a directory'
expect 'JUnit file that cannot be written: the run is kept' "$(find results -name correctness_summary.json | wc -l)" 1
for command in "list --module $many" "run --module $broken $one" "run --module $broken $one --format json" doctor \
    "selfcheck --judge $here/../blocks/h200.jsonl" --help --version; do
    status=0
    # shellcheck disable=SC2086 # words
    "$kgate" $command >/dev/full 2>err || status=$?
    expect "${command%% *} to a full disk: status" "$status" 2
    expect "${command%% *} to a full disk: lines on stderr" "$(grep -c -v 'another run .*has this device' err)" 1
    status=0
    # shellcheck disable=SC2086 # words
    "$kgate" $command >&- 2>err || status=$?
    expect "${command%% *} to nowhere: status" "$status" 2
done
finish

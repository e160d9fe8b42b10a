#!/usr/bin/env bash
# files.sh -- what a module is made of beside its own code counts as its code, beside another build too, and its files stay
# what they were while a run goes on. Its kernel is in a library that it links to.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

command -v "${CC:-cc}" >/dev/null || exit 77
include=$here/../../include sources=$here/../modules
shared() { # shared FILE OPTION... -- of C
    "${CC:-cc}" -shared -fPIC -O1 "-I$include" "${@:2}" -o "$1"
}
library() { # library OPTION... -- libscale.so
    shared libscale.so "$@" "$sources/linked_kernel.c"
}
module() { # module FACTOR SHA FILE
    shared "$3" "-DFACTOR=$1" "-DSHA=\"$2\"" "$sources/linked.c" -L. -lscale -Wl,-rpath,"\$ORIGIN/first:\$ORIGIN"
}
identity() { # identity MODULE
    gate run --module "./$1" --no-time
    sed -n '2s/.*\(module code [^,]*\),.*/\1/p' results/latest/comparison.csv
}
sha=0123456789012345678901234567890123456789

library -DAGAIN=1
module 2 "$sha" linked.so
was=$(identity linked.so)
expect 'it names its library' "${was#*; }" "1 linked library ${was##* }"
expect 'and says the same again' "$(identity linked.so)" "$was"
module 2 "${sha//0/a}" linked.so
expect 'of another commit' "$(identity linked.so)" "$was"
module 3 "$sha" linked.so
expect 'with other data' "$([ "$(identity linked.so)" != "$was" ] && echo other)" other
module 2 "$sha" linked.so
library -DAGAIN=2
expect 'with another library' "$([ "$(identity linked.so)" != "$was" ] && echo other)" other
expect 'with another library: the module is the same' "$(identity linked.so | sed 's/;.*//')" "${was%%;*}"

# ---- beside another build ----

pair() { # pair OPTION... -- 1/linked.so and 2/linked.so, each compiled with its BUILD and these options
    local build
    for build in 1 2; do
        mkdir -p "$build"
        (cd "$build" && library "-DBUILD=$build" "$@" && module 2 "$sha" linked.so)
    done
}
beside() { # beside WHAT WANTED OPTION... -- status and verdict of the second beside the first
    decide linked/long/s0/plain --module 2/linked.so --against 1/linked.so linked/long "${@:3}"
    expect "$1" "$status $(verdict linked/long/s0/plain)" "$2"
}
pair -DAGAIN=BUILD
beside 'a library of one name' '3 SLOW'
if command -v "${CXX:-c++}" >/dev/null; then
    pair -DAGAIN=BUILD -x c++ -fvisibility=default
    beside 'a variable of one name' '3 SLOW'
fi
if [ "$(nproc)" -gt 1 ] && "${CC:-cc}" -fopenmp -E - </dev/null >/dev/null 2>&1; then
    pair -DAGAIN=1 -DTHREADS=BUILD-1 -fopenmp
    beside 'the threads of a process' '0 PASS' --no-time --jobs 1
fi

# ---- one build with two libraries ----

shared opened.so -DFACTOR=2 "-DSHA=\"$sha\"" -DOPENED "$sources/linked.c"
for again in 1 2; do
    (cd $again && library -DAGAIN=$again "-DVERSION=\"$again.0.5\"")
done
libraries() { # libraries WHAT WANTED NEW OLD -- status, verdict and what the reason says of them
    decide linked/long/s0/plain --module ./opened.so --against ./opened.so linked/long --library-path "$3" \
        --baseline-library-path "$4"
    expect "$1" "$status $(verdict linked/long/s0/plain) $(reason linked/long/s0/plain | grep -o 'scale .*')" "$2"
}
libraries 'a slower library' '3 SLOW scale 1.0.5 → 2.0.5' 2 1
libraries 'a faster one' '0 FAST scale 2.0.5 → 1.0.5' 1 2
libraries 'the same' '0 PASS ' 2 2
bless --module ./opened.so linked/long --reason test --expectations "$scratch" --library-path 1
decide linked/long/s0/plain --module ./opened.so linked/long --expectations "$scratch" --library-path 2
expect 'by goldens' "$status $(reason linked/long/s0/plain | grep -o 'scale .*')" '3 scale 1.0.5 → 2.0.5'

# ---- while it runs ----

checking() { # whether a worker is at its cases
    local process
    for process in $(workers); do
        ! grep -q -s -a -z -x run "/proc/$process/cmdline" || return 0
    done
    return 1
}
replaced() { # replaced HOW COMMAND...
    local how=$1 options=(--timer event --samples 3 --warmup 1)
    shift
    [ -z "${against-}" ] || options=(--against "$against")
    WAIT=$wait_us "$kgate" run --module ./linked.so --rounds 3 "${options[@]}" ${untimed:+--no-time} >out 2>err &
    run=$!
    until checking || ! kill -0 "$run" 2>/dev/null; do sleep 0.02; done
    sleep 0.5
    "$@"
    status=0
    wait "$run" || status=$?
    expect "$how: status" "$status" 2
    expect_in "$how: why" err "${why:-$scratch/${changed:-linked.so} was}"
}
cp linked.so other.so
wait_us=100000
replaced 'written to' touch linked.so
# Of few calls, each of which outlasts what happens to the file.
untimed=yes wait_us=1000000 replaced 'written to in the last round' touch linked.so
replaced 'another in its place' mv other.so linked.so
cp libscale.so other.so
changed=libscale.so replaced 'a linked library exchanged while the run goes on' mv other.so libscale.so
changed=libscale.so untimed=yes wait_us=1000000 replaced 'a linked library written to in the last round' touch libscale.so
against=1/linked.so untimed=yes wait_us=1000000 changed=1/libscale.so replaced "the other build's library" touch 1/libscale.so
# Whose file stays as it was. The next worker loads the other.
why='a worker died before its first case' wait_us=1000000 replaced 'another library found first' cp -r 1 first
expect_in 'another library found first: what it printed' "$(find results -name workers.log -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)" "$scratch/first/libscale.so is not"
rm -r first
replaced 'removed' rm linked.so
# The next worker finds another file, and ends before its first case.
cp 2/linked.so linked.so
FALLS=linked.so gate run --module ./linked.so --jobs 1 --no-time
expect 'written to before a worker starts: status' "$status" 2
expect_in 'written to before a worker starts: why' err 'linked.so was'
finish

# shellcheck shell=bash disable=SC2154 # kgate is the scripts'
# lib.sh -- what the scripts of this folder share. One that is new takes its arguments, leaves `kgate` and the array
# `options` set, sources this file, calls need_gpu, runs kgate into $work/results by `status`, asks by `expect`, and ends
# in `finish`; fp8.sh is a short example. A script's name goes into the list in ../meson.build, for shellcheck.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# need_gpu: ends the script as skipped where kgate sees none.
need_gpu() {
    "$kgate" doctor >"$work/doctor"
    if ! grep -q '^device: cuda:0' "$work/doctor"; then
        echo "no GPU here"
        exit 77
    fi
}

# on_all_gpus FUNCTION ARGUMENT...: FUNCTION GPU ARGUMENT... for each GPU of this machine at once, which has it to
# itself and a home of its own, and may read how many there are, $gpus. Ends the script as skipped where there is none.
on_all_gpus() {
    local gpus gpu
    gpus=$(nvidia-smi --list-gpus 2>/dev/null | wc -l) || { echo "no GPU here" && exit 77; }
    for ((gpu = 0; gpu < gpus; gpu++)); do
        mkdir "$work/home$gpu"
        HOME=$work/home$gpu CUDA_VISIBLE_DEVICES=$gpu "$1" "$gpu" "${@:2}" &
    done
    wait
}

# take NAME: true for one caller alone, since only one can make the folder.
take() {
    mkdir "$work/$1" 2>/dev/null
}

fail() {
    echo "FAIL: $*"
    failed=$((failed + 1))
}

# status WANTED COMMAND...: runs it and compares the exit status.
status() {
    local wanted=$1 got=0
    shift
    "$@" >"$work/out" 2>&1 || got=$?
    if [ "$got" != "$wanted" ]; then
        cat "$work/out"
        fail "status $got, not $wanted: $*"
    fi
}

# column NAME ID: of the newest run. No column up to the times holds a comma.
column() {
    awk -F, -v name="$1" -v id="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { sub("\r", "", $i); if ($i == name) at = i } }
        $1 == id { print $at }' "$work/results/latest/comparison.csv"
}

# expect VERDICT ID...: of the newest run.
expect() {
    local wanted=$1 id got
    shift
    for id in "$@"; do
        got=$(column verdict "$id")
        [ "$got" = "$wanted" ] || fail "$id: ${got:-nothing}, not $wanted"
    done
}

finish() {
    if [ "$failed" -gt 0 ]; then
        echo "$failed failed"
        exit 1
    fi
    echo "all as it must be"
    exit 0
}

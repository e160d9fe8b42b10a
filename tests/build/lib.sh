# shellcheck shell=sh disable=SC2034 # scripts use the variables
# lib.sh -- what the scripts of this folder share: a script sources it, asks by `expect`, and ends in `finish`.

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

# expect WHAT GOT WANTED; what a program left in $scratch/out is shown where it fails.
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: got '$2', wanted '$3'"
        [ ! -s "$scratch/out" ] || cat "$scratch/out"
        failures=$((failures + 1))
    fi
}

# resources MODULE EXPECTATIONS PATTERN OPTION...: kgate resources of these kernels; leaves $status and $scratch/out.
resources() {
    of=$1 expectations=$2 kernels=$3 status=0
    shift 3
    # shellcheck disable=SC2154 # kgate is the script's
    "$kgate" resources --module "$of" --expectations "$expectations" "$@" "$kernels" >"$scratch/out" 2>&1 || status=$?
}

finish() {
    echo "$failures failed"
    [ "$failures" = 0 ]
    exit
}

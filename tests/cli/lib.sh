# shellcheck shell=bash disable=SC2034 # scripts use the variables
# lib.sh -- what the scripts of this folder share. Each is called SCRIPT KGATE MODULES, MODULES being the folder of the
# test modules; it sources this file, runs kgate by `gate`, asks by `expect`, and ends in `finish`.

kgate=$(realpath "$1") modules=$(realpath "$2")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
for tool in jq git; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done

# A folder of the test's own, outside any repository, and no settings of the user.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 2
export HOME=$scratch XDG_CACHE_HOME=$scratch/cache GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null LC_ALL=C
broken=$modules/broken.so many=$modules/many.so
failures=0

# Few blocks, but steady ones: windows beside the anchor, whose ratio stands where the p50 does not.
quick=(--rounds 3)
# Blocks of a few calls, where what they say about time does not matter.
hasty=(--timer event --samples 51 --warmup 5)

# gate ARGUMENT... -- runs kgate; leaves $status, $scratch/out and $scratch/err. Other runs on this machine may hold the
# device: that it waits for them is no part of a test's output.
gate() {
    status=0
    ${limit:+timeout -k 1 "$limit"} "$kgate" "$@" >"$scratch/out" 2>"$scratch/err.all" || status=$?
    grep -v '^kgate: another run .*has this device; waiting' "$scratch/err.all" >"$scratch/err" || true
}

# bless ARGUMENT... -- gate run --bless until it is steady enough: this machine may be busy with other things.
bless() {
    local try
    for try in 1 2 3 4 5 6 7 8; do
        gate run --bless --allow-dirty "$@"
        [ "$status" = 4 ] || break
        echo "try $try: too unsteady to bless"
    done
    expect "bless $*: status" "$status" 0
}

# decide ID ARGUMENT... -- gate run as JSON. A machine may be too busy to decide, which is UNSURE and never another
# verdict: asked again, then.
decide() {
    local id=$1 try
    shift
    for try in 1 2 3 4 5; do
        gate run --format json "$@"
        [ "$status" = 4 ] || break
        [ "$(verdict "$id")" = UNSURE ] || break
        echo "try $try: $(reason "$id")"
    done
}

# caught CASE VERDICT REASON -- of the last run: a reason with these words in it.
caught() {
    expect "$1" "$(verdict "$1")" "$2"
    case $(reason "$1") in
    *"$3"*) echo "ok: $1 says '$3'" ;;
    *) expect "$1: its reason" "$(reason "$1")" "$3" ;;
    esac
}

# expect WHAT GOT WANTED
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1: got '$2', wanted '$3'"
        [ ! -s "$scratch/err" ] || sed 's/^/    stderr: /' "$scratch/err" | head -n 20
        failures=$((failures + 1))
    fi
}

# expect_in WHAT FILE TEXT -- TEXT stands somewhere in FILE.
expect_in() {
    if grep -q -F -e "$3" "$2"; then
        echo "ok: $1"
    else
        echo "FAILED: $1: no '$3' in:"
        head -n 20 "$2"
        failures=$((failures + 1))
    fi
}

# results FILTER -- jq over what `gate run --format json` printed.
results() {
    jq -r "$1" "$scratch/out"
}

# verdict ID; reason ID
verdict() {
    results ".results[] | select(.id == \"$1\") | .verdict"
}
reason() {
    results ".results[] | select(.id == \"$1\") | .reason"
}

# refused TEXT ARGUMENT... -- kgate ends with status 2 and one line on stderr that has TEXT in it, and leaves no results.
refused() {
    local text=$1
    shift
    rm -rf "$scratch/results"
    gate "$@"
    expect "$*: status" "$status" 2
    expect "$*: lines on stderr" "$(wc -l <"$scratch/err")" 1
    expect "$*: stdout is empty" "$(wc -c <"$scratch/out")" 0
    expect_in "$*: says kgate:" "$scratch/err" 'kgate: '
    expect_in "$*: says why" "$scratch/err" "$text"
    expect "$*: leaves nothing" "$(ls "$scratch/results" 2>/dev/null)" ''
}

# workers -- process ids of the workers of this test's kgate.
workers() {
    local process
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd")" = "$scratch" ] && grep -q -a -z -x worker "$process/cmdline" &&
            ! grep -q -a -z -x tables "$process/cmdline"; then
            echo "${process#/proc/}"
        fi
    done 2>/dev/null || true
}

# sum FOLDER -- changes when anything in it does.
sum() {
    (cd "$1" && find . -type f ! -name .lock -exec sha256sum {} + | sort)
}

finish() {
    if [ "$failures" -gt 0 ]; then
        echo "$failures failed"
        exit 1
    fi
    exit 0
}

#!/usr/bin/env bash
# turns.sh -- two runs started at once on one GPU take turns, and their p50s, medians of a bless's eight processes, agree
# with those of a run alone within the floor of each case (twice the standard deviation between those processes) or 0.5%,
# whichever is more. A run alone goes before and one after the two: what these differ by is the session's drift, which is
# printed, not theirs.
#
#     turns.sh KGATE [OPTION of kgate run, such as --library-path DIR or --git-sha SHA...]
set -eu -o pipefail

kgate=$(realpath "$1")
shift
options=("$@")
. "$(dirname "$0")/lib.sh"
need_gpu
shapes=(cudnn_sdpa/{lab,lab_causal,s512,s2048})

run() { # NAME; an unsteady case is refused, the others are blessed
    "$kgate" run "${shapes[@]}" --bless --reason "to compare" --allow-dirty --expectations "$work/$1.goldens" \
        --output "$work/$1" "${options[@]}" >"$work/$1.out" 2>"$work/$1.err" || cat "$work/$1.out" "$work/$1.err"
}

# times NAME: key, p50_us and floor_pct of what was blessed.
times() {
    sed -n 's/^{"key":"\([^"]*\)","p50_us":\([0-9.e+-]*\),"floor_pct":\([0-9.e+-]*\),.*/\1 \2 \3/p' \
        "$work/$1.goldens"/*.json | sort
}

run before
run first &
run second
wait $!
run after
grep -h 'another run .*has this device' "$work"/{first,second}.err || {
    echo "neither waited for the other"
    exit 1
}
times before >"$work/before.txt"
times after | join "$work/before.txt" - | awk '{ print $1, $2, $4, ($3 > $5 ? $3 : $5) }' >"$work/alone.txt"
tail -n 2 "$work"/{before,first,second,after}.out
status=0
for name in first second; do
    times "$name" | join "$work/alone.txt" - | awk -v name="$name" '{
        low = $2 < $3 ? $2 : $3; high = $2 < $3 ? $3 : $2; limit = $4 > 0.5 ? $4 : 0.5
        change = $5 < low ? 100 * ($5 / low - 1) : $5 > high ? 100 * ($5 / high - 1) : 0
        size = change < 0 ? -change : change; worst = size > worst ? size : worst
        drift = 100 * (high / low - 1); most = drift > most ? drift : most; drifted += drift > limit; n++
        if (!(size <= limit)) { bad++; printf "%s: %s %.4g us, alone %.4g and %.4g us: %+.2f%%, floor %.2f%%\n", name, $1, $5, $2, $3, change, limit }
    } END {
        printf "%s: %d cases, worst %.2f%%, %d over their floor; the runs alone differ by up to %.2f%%, %d by more than their floor\n",
            name, n, worst, bad, most, drifted
        exit n < 12 || bad > 0
    }' || status=1
done
exit "$status"

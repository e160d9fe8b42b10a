#!/usr/bin/env bash
# cudnn.sh -- another cuDNN on one card: which cases got slower and faster, by goldens that were blessed on this card with
# the one version, and by --against with two library paths, both ways round. The two agree, and reasons name the versions.
#
#     cudnn.sh KGATE MODULE NEW OLD FOLDER [OPTION of kgate run, such as --git-sha SHA...]
#
# NEW and OLD: folders with a cuDNN each. FOLDER gets results and logs.
set -eu -o pipefail

kgate=$(realpath "$1") module=$(realpath "$2") new=$3 old=$4 folder=$(realpath "$5")
shift 5
. "$(dirname "$0")/lib.sh"
need_gpu
run=("$kgate" run cudnn_sdpa attention_matrix fa_s512 fp8_cudnn --backend 'cudnn,cudnn_fp8' --module "$module" "$@")
run+=(--exclude 'fp8_cudnn/d128_*' --exclude 'fp8_cudnn/d64_b4_*') # which cuDNN 9.14 gets wrong

# beside NAME FROM TO: TO judged by goldens of FROM, and beside FROM
beside() {
    local name=$1 from=$2 to=$3 got
    "${run[@]}" --bless --reason 'to be held against' --allow-dirty --library-path "$from" --expectations "$folder/$name" \
        --output "$folder/${name}_bless" >"$folder/${name}_bless.log" 2>&1 || fail "$name: no goldens"
    for got in golden against; do
        local how=(--expectations "$folder/$name")
        [ "$got" = golden ] || how=(--against "$module" --baseline-library-path "$from")
        "${run[@]}" --regime none "${how[@]}" --library-path "$to" --output "$folder/${name}_$got" >"$folder/${name}_$got.log" 2>&1 || true
    done
    python3 - "$folder/${name}_golden/latest/comparison.csv" "$folder/${name}_against/latest/comparison.csv" <<'PY' || fail "$name: they do not agree"
import csv, math, re, sys
golden, against = ({row["id"]: row for row in csv.DictReader(open(path)) if row["change_pct"]} for path in sys.argv[1:])
wrong = 0
print("| case | by golden | | --against | |\n| --- | ---: | --- | ---: | --- |")
for case, row in against.items():
    other, threshold = golden.get(case, dict(change_pct="nan", verdict="not judged", reason="")), float(row["threshold_pct"])
    change, read = float(row["change_pct"]), float(other["change_pct"])
    # What is 1.2 thresholds or more by the one is not under 0.8 by the other; a golden's SLOW names the versions.
    bad = not abs(read) < math.inf or any(a >= 1.2 * threshold and b < 0.8 * threshold
                                          for a, b in ((change, read), (read, change)))
    bad = bad or other["verdict"] == "SLOW" and not re.search(r"cuDNN [\d.]+.* → [\d.]+", other["reason"])
    wrong += bad
    print(f"| {case} | {read:+.1f}% | {other['verdict']} | {change:+.1f}% | {row['verdict']} |{' <- differ' if bad else ''}")
print(f"{len(against)} cases, {wrong} told otherwise; {next((r['reason'] for r in golden.values() if 'cuDNN' in r['reason']), '')}")
sys.exit(wrong > 0 or not against)
PY
}

beside upgrade "$old" "$new"
beside downgrade "$new" "$old"
finish

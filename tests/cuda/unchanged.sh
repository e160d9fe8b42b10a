#!/usr/bin/env bash
# unchanged.sh -- whole runs by goldens of other cards: of unchanged code, and of a build whose host code alone changed
# (host_only.patch), which end 0; one with six cases slower (six_cases.patch), which --duel settles; and of a real regression
# (no_lag.patch) by --duel, which ends 3 and names each case that --against alone reads at 1.2 times its threshold or more,
# and none that it reads under 0.8.
#
#     unchanged.sh BUNDLE MODULES FOLDER [OPTION of kgate run, such as --library-path DIR...]
#
# MODULES has host_only, six_cases and no_lag, each with an attention.so built from a tree of its own; what is not there is
# left out. FOLDER gets logs and results. The last line but one of each part: what, status, seconds of correctness and of timing.
set -eu -o pipefail

bundle=$(realpath "$1") modules=$(realpath "$2") folder=$(realpath "$3")
kgate=$bundle/bin/kgate
shift 3
. "$(dirname "$0")/lib.sh"
need_gpu

uuid=$(sed -n 's/^device: cuda:0.*\(GPU-[0-9a-f-]*\).*/\1/p' "$work/doctor")
cp -r "$bundle/share/kgate/expectations" "$work/goldens"
rm -f "$work"/goldens/*."$uuid".json
echo "card $uuid, whose blocks are in $(grep -l "$uuid" "$work"/goldens/*.json | wc -l) other files"

# part NAME WANTED OPTION...: a run into FOLDER/NAME
part() {
    local name=$1 wanted=$2 got=0
    shift 2
    "$kgate" run --expectations "$work/goldens" --output "$folder/$name" "$@" >"$folder/$name.log" 2>&1 || got=$?
    python3 - "$folder/$name" "$name" "$got" <<'EOF'
import collections, csv, json, pathlib, sys
folder = pathlib.Path(sys.argv[1]) / "latest"
meta = json.loads((folder / "build_meta.json").read_text())
rows = list(csv.DictReader((folder / "comparison.csv").open()))
print(f"{sys.argv[2]}: status {sys.argv[3]}, correctness {meta['correctness_seconds']:.1f} s, "
      f"timing {meta['seconds'] - meta['correctness_seconds']:.1f} s, "
      f"{dict(collections.Counter(row['verdict'] for row in rows))}")
for row in rows:
    if row["verdict"] not in ("PASS", "SKIP", "XFAIL"):
        print("  ", row["id"], row["verdict"], row["reason"])
EOF
    [ "$got" = "$wanted" ] || fail "$name: status $got, not $wanted"
}

# found DUEL AGAINST: what the one names against what the other reads
found() {
    python3 - "$folder/$1/latest/comparison.csv" "$folder/$2/latest/comparison.csv" <<'EOF' || fail "$1: other cases than $2 reads"
import csv, sys
duel, against = ({row["id"]: row for row in csv.DictReader(open(path))} for path in sys.argv[1:])
wrong = clear = 0
for case, row in against.items():
    if not row["change_pct"]:
        continue
    of_threshold = float(row["change_pct"]) / float(row["threshold_pct"])
    named = duel[case]["verdict"] == "SLOW"
    clear += of_threshold >= 1.2
    if named != (of_threshold >= 1.2) and (of_threshold >= 1.2 or of_threshold < 0.8):
        wrong += 1
        print("  ", case, duel[case]["verdict"], duel[case]["reason"], "; --against:", row["reason"])
print(f"{clear} cases at 1.2 times the threshold or more, {wrong} told otherwise")
sys.exit(wrong > 0 or clear == 0)
EOF
}

part whole 0 "$@"
if [ -e "$modules/host_only/attention.so" ]; then
    part host_only 0 --regime none --module "$modules/host_only/attention.so" "$@"
fi
mkdir -p "$work/kept/now"
cp "$bundle/lib/kgate/attention.so" "$work/kept/now"
if [ -e "$modules/six_cases/attention.so" ]; then
    part six_cases 3 --regime none --module "$modules/six_cases/attention.so" --duel "$work/kept" "$@"
fi
if [ -e "$modules/no_lag/attention.so" ]; then
    flash=(--regime none --module "$modules/no_lag/attention.so" --backend flash --exclude '*_parity/*')
    part duel 3 "${flash[@]}" --duel "$work/kept" --budget 300 "$@"
    part against 3 "${flash[@]}" --against "$bundle/lib/kgate/attention.so" "$@"
    found duel against
fi
finish

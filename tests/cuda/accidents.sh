#!/usr/bin/env bash
# accidents.sh -- what happens without malice, on a GPU: a row made smaller under its name, timing switched off where a
# golden exists, another cuDNN; none is green without a word. The first two are of a build with accidents.patch put in.
#
#     accidents.sh KGATE MODULE ACCIDENTS.so OTHER [OPTION of kgate run, such as --library-path DIR...]
#
# MODULE is the build without the patch; OTHER is a folder with another cuDNN, or '' .
set -eu -o pipefail

kgate=$1 module=$2 accidents=$3 other=$4
shift 4
options=("$@")
. "$(dirname "$0")/lib.sh"
need_gpu

row=cudnn_sdpa/lab/s42/flash untimed=fp8_cudnn/odd/s0/cudnn_fp8 library=cudnn_sdpa/lab/s42/cudnn
run=("$kgate" run "$row" "$untimed" --output "$work/results")
goldens=(--expectations "$work/goldens")

# says ID WORDS
says() {
    python3 - "$work/results/latest/comparison.csv" "$@" <<'EOF' || fail "$1 does not say '$2'"
import csv, sys
row = next(row for row in csv.DictReader(open(sys.argv[1])) if row["id"] == sys.argv[2])
print(row["id"], row["verdict"], row["reason"])
sys.exit(sys.argv[3] not in row["reason"])
EOF
}

status 0 "${run[@]}" "$library" --module "$module" "${goldens[@]}" "${options[@]}" --bless --reason 'as it was' --allow-dirty
status 0 "${run[@]}" --module "$module" "${goldens[@]}" "${options[@]}"
status 4 "${run[@]}" --module "$accidents" "${goldens[@]}" "${options[@]}"
expect UNGATED "$row"
expect LOST "$untimed"
says "$row" 'S=256 -> S=128'
says "$untimed" 'golden exists'
status 4 "${run[@]}" --module "$accidents" --against "$module" "${options[@]}"
expect LOST "$row"
expect PASS "$untimed"
says "$row" 'the row was changed: S=256 -> S=128'
[ "$(column p50_us "$untimed")" != '' ] || fail "$untimed is not timed"
if [ -n "$other" ]; then
    status 3 "$kgate" run "$library" --regime none --output "$work/results" --module "$module" "${goldens[@]}" --library-path "$other"
    expect SLOW "$library"
    says "$library" 'cuDNN '
fi
finish

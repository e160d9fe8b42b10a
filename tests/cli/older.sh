#!/usr/bin/env bash
# older.sh -- modules that were built against an older kgate.h are read by the sizes that they state: one against the
# header that is kept, one against a header that lacks the last members of today's structs.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

for layout in abi5 shorter; do
    module=$modules/older_$layout.so
    gate list --module "$module"
    expect "$layout, list: status" "$status" 0
    expect "$layout, list" "$(tr '\n' ' ' <out)" "$(echo {older,another}/{few,many}/s1/{twice,thrice,any} '')"
    gate run --module "$module" --no-time --format json
    expect "$layout, run: status" "$status" 0
    expect "$layout, verdicts" "$(results '[.results[] | .id + " " + .verdict] | join(",")')" \
        "$(printf '%s PASS,%s XFAIL,%s PASS\n' {older,another}/{few,many}/s1/{twice,thrice,any} | paste -sd ,)"
    gate run older/few/s1/twice --module "$module" "${hasty[@]}" --allow-undecided --format json
    expect "$layout, timed" "$(verdict older/few/s1/twice)" PASS # the anchor itself
done
gate run --module "$modules/older_shorter.so" --against "$modules/older_abi5.so" --no-time
expect 'two layouts side by side: status' "$status" 0
finish

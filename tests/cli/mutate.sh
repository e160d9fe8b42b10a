#!/usr/bin/env bash
# mutate.sh -- tests/mutation/mutate.py on the example: changes are found, compiled and judged; what leaves the machine
# code is dropped; a declared equivalent must live.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

build=$(realpath "$modules/../..") source=examples/saxpy.c
command -v ninja >/dev/null || { echo "ninja is not installed"; exit 77; }
mutate() { # leaves $status and $scratch/out
    status=0
    "$here/../mutation/mutate.py" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
}
id_of() { # AFTER -- of the change that makes a line AFTER
    awk -F '  ' -v after="$1" '$NF == after { print $1 }' "$scratch/list"
}
line() { # ID -- of the table
    grep -F "| $1 |" "$scratch/made/results.md"
}

mutate list "$source" --count 1000
cp "$scratch/out" "$scratch/list"
expect "all changes are listed once" "$(sort "$scratch/list" | uniq -d | wc -l)" 0
for kind in condition constant comparison index operator statement; do
    expect_in "there are changes of kind $kind" "$scratch/list" "  $kind  "
done
expect "no comment is changed" "$(grep -c 'y = a x + y0' "$scratch/list" || true)" 0
mutate list "$source" --count 5
expect "the first of them are the same" "$(cat "$scratch/out")" "$(head -n 5 "$scratch/list")"
mutate list "$source" --count 1000 --seed 2
expect "another seed has another order" "$(cmp -s "$scratch/out" "$scratch/list" || echo other)" other
expect "and the same changes" "$(sort "$scratch/out")" "$(sort "$scratch/list")"

wrong=$(id_of 'y[i] = (float)((r ? y[i] : y0[i]) - step * x[i]);')
outside=$(id_of 'for (int64_t i = 0; i <= p->n; i++)')
same=$(id_of 'double step = p->a * (double)repeat;')
data=$(id_of 'static const kg_field fields[] = { { "n", offsetof(struct saxpy, n), KG_INT, 1, 1 << 25, 1, NULL, "elements" },')
cat >"$scratch/equivalent" <<'EOF'
saxpy.c plain
  - double step = p->a / (double)repeat;
  + double step = p->a * (double)repeat;
  = one pass divides by 1
EOF
run=(run "$source" --module examples/saxpy.so --build "$build" --work "$scratch/made" --equivalent "$scratch/equivalent")
mutate "${run[@]}" --only "$wrong,$same,$data,${outside%%$'\n'*}"
expect "all that lives is declared: status" "$status" 0
expect_in "three changes count" "$scratch/out" "| $source | 3 | 1 | 2 (100%) | 0 |"
expect_in "one leaves the code" "$scratch/out" "dropped 0 that do not compile and 1 that leave the machine code"
expect_in "the wrong sign is killed" <(line "$wrong") 'saxpy/in_cache/s1/plain'
expect_in "by these gates" <(line "$wrong") 'max_abs_err mean_abs_err'
expect_in "the division by 1 is equivalent" <(line "$same") 'equivalent: one pass divides by 1'

mutate "${run[@]}" --only "$same" --equivalent /dev/null
expect "without the declaration it lives: status" "$status" 1
expect_in "and is named" "$scratch/out" "lives: $same, line"
expect_in "as equivalent.txt would have it" "$scratch/made/survivors.txt" '  + double step = p->a * (double)repeat;'
mutate pack "$scratch/kit" --build "$build" --module examples/saxpy.so
mutate "${run[@]}" --only "$wrong" --build "$scratch/kit" --kgate "$kgate" --work "$scratch/away"
expect "what was packed is enough: status" "$status" 0
expect_in "and says the same" "$scratch/out" "| $source | 1 | 0 | 1 (100%) | 0 |"
sed 's/^  + .*/  + y[i] = (float)((r ? y[i] : y0[i]) - step * x[i]);/; s/^  - .*/  - y[i] = (float)((r ? y[i] : y0[i]) + step * x[i]);/' \
    "$scratch/equivalent" >"$scratch/false"
mutate table --work "$scratch/made" --equivalent "$scratch/false"
expect_in "what is killed is no equivalent" "$scratch/out" "declared equivalent, but killed: $wrong"
finish

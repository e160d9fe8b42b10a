#!/bin/sh
# trust.sh -- what docs/trust.md says of tests is so: they are tests of this build, what is said of them stands in their
# source, each defect has a patch that still applies and names tests that are there, a row with patches names the tests
# of these patches, and each patch of the museum applies and stands in the table of published bugs.
#
#     trust.sh SOURCE_FOLDER BUILD_FOLDER
set -eu

source=$1 build=$2
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
command -v git >/dev/null || { echo "git is not installed"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source"
failed=0

fail() {
    echo "FAILED: $*"
    failed=$((failed + 1))
}

jq -r '.[].name' "$build/meson-info/intro-tests.json" >"$scratch/tests"
is_test() { # of this build, or one that needs nvcc where this build has none
    grep -q -x -F -e "$1" "$scratch/tests" ||
        { ! grep -q -x gpu "$scratch/tests" && grep -q -F -e "'$1'" tests/meson.build tests/cuda/meson.build; }
}

# Cells that name tests: the third of "What a kernel could try", the third of each table of defects.
sed -n '/^## What a kernel could try/,/^## Single changes/p' docs/trust.md | grep '^| ' | grep -v '^| ---' >"$scratch/rows"
quoted() { # quoted COLUMN PATTERN -- what stands there between back quotes, of the rows on standard input
    cut -d '|' -f "$1" | grep -o "\`$2\`" | tr -d '\`'
}
quoted 4 '[^`]*' <"$scratch/rows" >"$scratch/named"
while IFS= read -r entry; do
    name=${entry%%/*} what=${entry#*/}
    is_test "$name" || fail "$entry: no test is called '$name'"
    [ "$name" != "$what" ] || { fail "$entry: it does not say what in '$name'" && continue; }
    case $name in
    'fp8 on a GPU') files=tests/cuda/fp8.sh ;;
    'repeat on a GPU') files=tests/cuda/repeat.sh ;;
    gpu) files=tests/cuda/gpu.sh ;;
    shipped_kernels) files=tests/meson.build ;;
    reports) files=tests/reports/test_reports.c ;;
    status_pairs) files=tests/status/status.py ;;
    *) files=$(find tests -name "$name.sh" -not -path '*/cuda/*' -o -name "$name.c" -o -name "test_$name.c" \
        -o -name "$name.py") ;;
    esac
    # shellcheck disable=SC2086 # names without spaces
    if [ -z "$files" ] || ! grep -q -F -e "$what" $files; then
        fail "$entry: no '$what' in ${files:-the sources}"
    fi
done <"$scratch/named"
[ "$(wc -l <"$scratch/named")" -ge 40 ] || fail "only $(wc -l <"$scratch/named") tests are named"

tests_of() { # tests_of PATCH -- that are to fail with it
    sed -n '/^---/q; s/^Tests: //p' "tests/defects/$1.patch"
}

# Every patch of the tests applies, those for a GPU too.
for patch in tests/*/*.patch; do
    git apply --check -C1 "$patch" 2>"$scratch/error" || fail "$patch does not apply: $(head -n 1 "$scratch/error")"
done

# Defects: each is in a table, and what the tables name is there.
quoted 5 '[a-z0-9_]*' <"$scratch/rows" | sort -u >"$scratch/put_in"
for patch in tests/defects/*.patch; do
    name=$(basename "$patch" .patch)
    grep -q -x "$name" "$scratch/put_in" || fail "$patch: docs/trust.md does not name it"
    tests=$(tests_of "$name")
    [ -n "$tests" ] || fail "$patch names no tests"
    for test in $tests; do
        is_test "$test" || fail "$patch: no test is called '$test'"
    done
done
while IFS= read -r name; do
    [ -f "tests/defects/$name.patch" ] || fail "docs/trust.md: no tests/defects/$name.patch"
done <"$scratch/put_in"

# A row's tests are those of its patches. What needs a GPU no patch can show.
while IFS= read -r row; do
    patches=$(echo "$row" | quoted 5 '[a-z0-9_]*' | paste -s -d ' ')
    [ -n "$patches" ] || continue
    echo "$row" | quoted 4 '[^`]*' | sed 's,/.*,,' | grep -v -x -e gpu -e '.* on a GPU' | sort -u >"$scratch/of_row"
    for patch in $patches; do
        [ ! -f "tests/defects/$patch.patch" ] || tests_of "$patch"
    done | tr ' ' '\n' | sort -u >"$scratch/of_patches"
    for test in $(comm -13 "$scratch/of_row" "$scratch/of_patches"); do
        fail "$patches: the row does not name '$test', which must fail"
    done
    for test in $(comm -23 "$scratch/of_row" "$scratch/of_patches"); do
        fail "$patches: the row names '$test', which no patch of it does"
    done
done <"$scratch/rows"

# The museum: a patch's head says what it is, and the table has it and its bugs.
sed -n '/^## Published bugs/,/^## One of your own/p' docs/regimes.md >"$scratch/museum"
rooms=0
for patch in tests/museum/*.patch; do
    name=$(basename "$patch" .patch) rooms=$((rooms + 1))
    head=$(sed '/^---/,$d' "$patch")
    grep -q -F -e "\`$name\`" "$scratch/museum" || grep -q -F -e "\`${name%_*}\`\\*" "$scratch/museum" || fail "$patch: docs/regimes.md does not name it"
    for field in 'Bug: .' 'Shows: cpu$' 'Backend: .'; do
        echo "$head" | sed 's/^Shows: cuda$/Shows: cpu/' | grep -q -e "^$field" || fail "$patch says no ${field%: *}"
    done
    for number in $(echo "$head" | sed -n 's/^Bug: //p' | grep -o '#[0-9]*'); do
        grep -q -F -e "$number" "$scratch/museum" || fail "$patch: docs/regimes.md does not name $number"
    done
done
[ "$rooms" -ge 20 ] || fail "only $rooms published bugs"
echo "$(wc -l <"$scratch/named") tests named, $(wc -l <"$scratch/put_in") patches, $failed not as they must be"
[ "$failed" = 0 ]

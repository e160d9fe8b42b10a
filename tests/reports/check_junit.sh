#!/bin/sh
# check_junit.sh FILE -- is it valid against junit.xsd, and do its counts agree with what stands in it?
# Needs xmllint (libxml2-utils); without it, 77: skipped. Run it over any junit.xml of a run, too.
set -eu
file=$1
command -v xmllint >/dev/null || { echo "xmllint is not installed"; exit 77; }
xmllint --noout --nonet --schema "$(dirname "$0")/junit.xsd" "$file"

# agree PATH ATTRIBUTE CONTENT: the attribute's sum over PATH is the number of CONTENT below it.
agree() {
    said=$(xmllint --xpath "sum($1/@$2)" "$file")
    found=$(xmllint --xpath "count($3)" "$file")
    [ "$said" = "$found" ] || { echo "$file: $1 says $2=$said, but there are $found"; exit 1; }
}
for at in /testsuites /testsuites/testsuite; do
    agree $at tests //testcase
    agree $at failures //testcase/failure
    agree $at errors //testcase/error
    agree $at skipped //testcase/skipped
done
suites=$(xmllint --xpath 'count(/testsuites/testsuite)' "$file")
i=1
while [ "$i" -le "$suites" ]; do
    suite="/testsuites/testsuite[$i]"
    agree "$suite" tests "$suite/testcase"
    agree "$suite" failures "$suite/testcase/failure"
    i=$((i + 1))
done

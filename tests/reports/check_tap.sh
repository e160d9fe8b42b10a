#!/bin/sh
# check_tap.sh FILE FAILED -- does prove read it without a parse error, and count that many failed tests?
# Without prove (perl), 77: skipped.
set -eu
file=$1 failed=$2
command -v prove >/dev/null || { echo "prove is not installed"; exit 77; }
status=0
told=$(prove --exec cat "$file" 2>&1) || status=$?
case $told in
*'Parse errors'*) echo "$told"; exit 1 ;;
esac
if [ "$failed" -eq 0 ]; then
    [ "$status" -eq 0 ] || { echo "$told"; exit 1; }
else
    case $told in
    *"Failed $failed/"*) ;;
    *) echo "$told"; exit 1 ;;
    esac
fi

#!/bin/sh
# exports.sh -- a module exports kg_module and nothing else, or two builds of it could not live in one process.
#
#     exports.sh MODULE.so...
set -eu

status=0
for module in "$@"; do
    exported=$(nm --dynamic --defined-only "$module" | awk '{ print $3 }' | tr '\n' ' ')
    if [ "$exported" = 'kg_module ' ]; then
        echo "ok: $module"
    else
        echo "FAILED: $module exports: $exported"
        status=1
    fi
done
exit "$status"

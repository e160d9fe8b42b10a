#!/usr/bin/env bash
# meson_protocol.sh -- meson shows a kgate suite that skips as SKIP, one that fails as FAIL, one that passes as OK.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

command -v meson >/dev/null || { echo 'meson is not on PATH'; exit 77; }
mkdir project
cat >project/meson.build <<'END'
project('three suites')
kgate = find_program(get_option('kgate'))
module = get_option('module')
foreach name, pattern : { 'skips': 'skipped/*', 'passes': 'output/*/good', 'fails': 'output/*/zero' }
  test(name, kgate, args: ['run', pattern, '--module', module], protocol: 'exitcode', is_parallel: false, timeout: 0)
endforeach
END
printf "option('kgate', type: 'string')\noption('module', type: 'string')\n" >project/meson_options.txt
# What a run inside meson is told by it must not reach another.
unset "${!MESON@}" NINJA_STATUS
meson setup build project -Dkgate="$kgate" -Dmodule="$broken" >log 2>&1 || { cat log; exit 1; }
rc=0
meson test -C build >log 2>&1 || rc=$?
expect 'meson test: status' "$([ "$rc" != 0 ] && echo failed)" failed
while read -r name word; do
    expect "$name" "$(awk -v name="$name" '$2 == name { print $3 }' log)" "$word"
done <<'END'
skips SKIP
passes OK
fails FAIL
END
cat log
finish

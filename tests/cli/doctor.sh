#!/usr/bin/env bash
# doctor.sh -- what `kgate doctor` says of a CPU: one line a fact, and every condition that bears on its times by name.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

# noise NAME -- yes or no: the condition is listed, as one line with its meaning and its advice.
noise() {
    if grep -qE "^noise: $1 \([^()]+\): .{10,}\$" out; then echo yes; else echo no; fi
}

# holds COMMAND... -- yes or no
holds() {
    if "$@" 2>/dev/null; then echo yes; else echo no; fi
}

gate doctor --module "$broken" --device cpu
expect 'status' "$status" 0
expect 'nothing on stderr' "$(wc -c <err)" 0
expect_in 'the program' out 'kgate: '
expect_in 'the CPU' out 'device: cpu:0 '
expect_in 'what gates' out 'gates: '
expect 'every line is a fact with a name' "$(grep -cvE '^[a-z ]+: ' out || true)" 0

cpu=/sys/devices/system/cpu
listed=$(grep -c '^noise: .*(' out || true)
expect 'none is known only where none is listed' "$(grep -c '^noise: none known$' out || true)" $((listed == 0))
if grep -q '^flags' /proc/cpuinfo; then
    expect 'a virtual machine' "$(noise 'virtual machine')" "$(holds grep -qw hypervisor /proc/cpuinfo)"
fi
expect 'threads that share a core' "$(noise SMT)" "$(holds grep -qx 1 $cpu/smt/active)"
governor=$(cat $cpu/cpu0/cpufreq/scaling_governor 2>/dev/null || echo performance)
expect 'a governor' "$(noise 'frequency governor')" "$([ "$governor" = performance ] && echo no || echo yes)"
load=$(sed -n 's/^load: \([0-9.]*\) on [0-9]* threads$/\1/p' out)
threads=$(sed -n 's/^load: [0-9.]* on \([0-9]*\) threads$/\1/p' out)
expect 'threads' "$threads" "$(getconf _NPROCESSORS_ONLN)"
busy=$(awk -v load="$load" -v threads="$threads" 'BEGIN { print (load > 0.25 * threads ? "yes" : "no") }')
expect "a load of $load" "$(noise load)" "$busy"
expect 'no condition of a GPU' "$(noise 'clocks not locked')$(noise 'no persistence')$(noise MIG)" nonono
finish

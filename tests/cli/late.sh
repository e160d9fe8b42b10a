#!/usr/bin/env bash
# late.sh -- kernels of broken.c that are right when they are checked and wrong when they are timed.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

gate run --module "$broken" 'late/*' --format json --timer event --samples 20 --warmup 5
expect 'timed calls: status' "$status" 1
caught late/plain/s0/first_only ERROR 'the timed calls gave another output than the checked one'
for flaw in remembers leaves; do
    caught "late/plain/s0/$flaw" ERROR 'on other inputs the timed calls gave a wrong output'
done
caught late/plain/s0/marks ERROR 'the timed calls wrote into their inputs'
expect 'timed calls: the case beside it' "$(verdict late/plain/s0/good)" UNGATED
gate run --module "$broken" 'late/plain/s0/*' --no-time --format json
for flaw in first_only remembers leaves; do
    caught "late/plain/s0/$flaw" ERROR 'called once more, on other inputs, it gave a wrong output'
done

for options in '--l2 cold' '--l2 warm' '--l2 cold --timer event --samples 20 --warmup 5'; do # graph windows, the usual timer
    # shellcheck disable=SC2086 # two words
    gate run --module "$broken" 'late/*/remembers' 'late/*/leaves' 'late/*/good' $options --format json
    expect "$options: an honest one" "$(verdict late/plain/s0/good)" UNGATED
    caught late/plain/s0/remembers ERROR 'on other inputs the timed calls gave a wrong output'
    caught late/plain/s0/leaves ERROR 'on other inputs the timed calls gave a wrong output'
done
gate run --module "$broken" 'late/*/knows' 'late/*/knows_*' 'late/*/good' --exclude '*/knows_past' --exclude '*/knows_half' --format json
expect 'knows its inputs: an honest one' "$(verdict late/plain/s0/good)" UNGATED
for flaw in knows knows_last knows_two knows_often knows_soon knows_place; do
    caught "late/plain/s0/$flaw" ERROR 'us on inputs that were seen before'
done
for _ in {1..4}; do # beside three busy loops one run in five misses it
    gate run --module "$broken" late/plain/s0/knows_half --format json
    [ "$(verdict late/plain/s0/knows_half)" != ERROR ] || break
done
caught late/plain/s0/knows_half ERROR 'us on inputs that were seen before'
rm -f known # what its first process leaves shows in the second round
gate run --module "$broken" late/plain/s0/knows_past --bless --allow-dirty --reason 'for more rounds' --expectations past --format json
caught late/plain/s0/knows_past ERROR 'us on inputs that were seen before'

# Those that work where somebody wrote since, and half of it elsewhere. One spoils what the other finds.
for backend in honest protection staging flags later reading; do
    again=()
    [ "$backend" != later ] || again=(--bless --allow-dirty --reason 'for more rounds' --expectations past)
    gate run --module "$modules/notices.so" --backend "$backend" --format json "${again[@]}"
    case $backend in
    flags | later) caught "notices/plain/s0/$backend" ERROR 'on other inputs the timed calls gave a wrong output' ;;
    reading) caught notices/plain/s0/reading ERROR 'the timed calls gave another output than the checked one' ;;
    honest) expect 'notices nothing' "$(verdict notices/plain/s0/honest)" UNGATED ;;
    protection) caught notices/plain/s0/protection ERROR 'on other inputs the timed calls gave a wrong output' ;;
    staging) caught notices/plain/s0/staging ERROR 'us where nothing was staged since the last' ;;
    esac
done

for _ in {1..6}; do # which call is looked at is drawn, in each round anew
    gate run --module "$modules/notices.so" --backend first_met --format json --bless --allow-dirty --reason 'for more rounds' --expectations past
    case $(reason notices/plain/s0/first_met) in 'timed alone on inputs of this run'*) break ;; esac
done
caught notices/plain/s0/first_met ERROR 'timed alone on inputs of this run, it gave a wrong output'
for _ in {1..4}; do # the calls that are not in a row meet two of five
    gate run --module "$broken" some_calls/tiny/s0/rests --l2 warm --format json
    caught some_calls/tiny/s0/rests ERROR 'on other inputs'
done
gate run --module "$broken" 'some_calls/plain/*' --exclude '*/queues' --exclude '*/trails' --exclude '*/rests' --l2 warm --format json
expect 'some calls: an honest one' "$(verdict some_calls/plain/s0/good)" UNGATED
caught some_calls/plain/s0/alternates ERROR 'called alone on other inputs it gave a wrong output'
caught some_calls/plain/s0/same_place ERROR 'on other inputs'
gate run --module "$broken" 'some_calls/long/*/good' 'some_calls/long/*/same_place' --l2 warm --format json
expect 'calls longer than a window: an honest one' "$(verdict some_calls/long/s0/good)" UNGATED
caught some_calls/long/s0/same_place ERROR 'on other inputs'
# On a busy machine its thread may be done before anything is read.
for _ in {1..16}; do
    gate run --module "$broken" some_calls/long/s0/trails --l2 warm --format json
    case $(reason some_calls/long/s0/trails) in 'its output changed'*) break ;; esac
done
caught some_calls/long/s0/trails ERROR 'its output changed when it had returned'
# Where the exchange was quick, it is met alone first; where calls are far apart, on a busy machine, it is an honest one.
for _ in {1..16}; do
    gate run --module "$broken" some_calls/plain/s0/lazy --l2 warm --format json
    case $(reason some_calls/plain/s0/lazy) in 'called right behind'*) break ;; esac
done
caught some_calls/plain/s0/lazy ERROR 'called right behind others, on other inputs, it gave a wrong output'
# What it left behind may spoil a case after it.
gate run --module "$broken" some_calls/plain/s0/queues --l2 warm --format json
caught some_calls/plain/s0/queues ERROR 'output'
finish

#!/usr/bin/env bash
# files.sh -- what a module is made of beside its own code counts as its code, and its files stay what they were while a
# run goes on. Its kernel is in a library that it links to.
set -eu -o pipefail
. "$(dirname "$0")/lib.sh"

command -v "${CC:-cc}" >/dev/null || exit 77
include=$here/../../include
cat >kernel.c <<'C'
void scale(float *y, const float *x, long n);
void scale(float *y, const float *x, long n)
{
    for (int again = 0; again < AGAIN; again++)
        for (long i = 0; i < n; i++)
            y[i] = 2 * x[i];
}
C
cat >module.c <<'C'
#include "kgate.h"
#include <stdlib.h>
#include <unistd.h>
void scale(float *y, const float *x, long n);
struct row { const char *name; int64_t n; };
static const float factor[16] = { 0, 1, FACTOR, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987 };
static volatile float seen;
static int tensors(const void *p, kg_tensor t[KG_MAX_TENSORS], int *count)
{
    t[0] = (kg_tensor){ .name = "x", .dtype = KG_F32, .role = KG_INPUT, .rank = 1, .dims = { ((const struct row *)p)->n } };
    t[1] = t[0], t[1].name = "y", t[1].role = KG_OUTPUT, *count = 2;
    return KG_OK;
}
static int reference(const void *p, const kg_tensor *t, kg_error *e)
{
    (void)e;
    for (int64_t i = 0; i < ((const struct row *)p)->n; i++)
        ((float *)t[1].data)[i] = 2 * ((const float *)t[0].data)[i];
    return KG_OK;
}
static int launch(const kg_backend *self, void *state, const kg_tensor *t, void *stream, kg_error *e)
{
    (void)self, (void)state, (void)stream, (void)e;
    if (getenv("WAIT"))
        usleep(1000000);
    seen = factor[t[0].dims[0] / 3 & 15];
    scale(t[1].data, t[0].data, kg_tensor_count(&t[1]));
    return KG_OK;
}
static double work(const void *p) { return (double)((const struct row *)p)->n; }
static const kg_field fields[] = { { "n", offsetof(struct row, n), KG_INT, .min = 1, .max = 1e6, .fallback = 1 } };
static const kg_op op = { "scale", "", sizeof(struct row), KG_LIST(fields), .tensors = tensors, .reference_cpu = reference,
                          .flops = work, .bytes = work };
static const kg_backend plain = { .name = "plain", .device = KG_CPU, .launch = launch };
static const kg_backend *const backends[] = { &plain };
static const struct row rows[] = { { "row", 8192 } };
static const uint64_t seeds[] = { 0 };
static const kg_suite suite = { .name = "linked", .op = &op, .shapes = KG_TABLE(rows), .seeds = KG_LIST(seeds),
    .backends = KG_LIST(backends), .anchor = NULL, .gates = { 1, 1, 1, 1, 0, 1 } };
static const kg_suite *const suites[] = { &suite };
KG_EXPORT const struct kg_module kg_module = { KG_MODULE_SIZES, .name = "linked", .git_sha = SHA, .flags = "",
                                               .suites = suites, .n_suites = 1 };
C
library() { # library TIMES -- libscale.so, whose kernel does its work so many times
    "${CC:-cc}" -shared -fPIC -O1 "-DAGAIN=$1" kernel.c -o libscale.so
}
module() { # module FACTOR SHA FILE
    "${CC:-cc}" -shared -fPIC -O1 "-I$include" "-DFACTOR=$1" "-DSHA=\"$2\"" module.c -o "$3" -L. -lscale -Wl,-rpath,"\$ORIGIN"
}
identity() { # identity MODULE
    gate run --module "./$1" --no-time
    sed -n '2s/.*\(module code [^,]*\),.*/\1/p' results/latest/comparison.csv
}
sha=0123456789012345678901234567890123456789

library 1
module 2 "$sha" linked.so
was=$(identity linked.so)
expect 'it names its library' "${was#*; }" "1 linked library ${was##* }"
expect 'and says the same again' "$(identity linked.so)" "$was"
module 2 "${sha//0/a}" linked.so
expect 'of another commit' "$(identity linked.so)" "$was"
module 3 "$sha" linked.so
expect 'with other data' "$([ "$(identity linked.so)" != "$was" ] && echo other)" other
module 2 "$sha" linked.so
library 2
expect 'with another library' "$([ "$(identity linked.so)" != "$was" ] && echo other)" other
expect 'with another library: the module is the same' "$(identity linked.so | sed 's/;.*//')" "${was%%;*}"

# While it runs, before its next round.
replaced() { # replaced HOW COMMAND...
    local how=$1
    shift
    WAIT=1 "$kgate" run --module ./linked.so --rounds 3 --timer event --samples 3 --warmup 1 >out 2>err &
    run=$!
    until [ "$(workers | wc -l)" -gt 0 ] || ! kill -0 "$run" 2>/dev/null; do sleep 0.02; done
    "$@"
    status=0
    wait "$run" || status=$?
    expect "$how: status" "$status" 2
    expect_in "$how: why" err 'linked.so was'
}
cp linked.so other.so
replaced 'written to' touch linked.so
replaced 'another in its place' mv other.so linked.so
replaced 'removed' rm linked.so
finish

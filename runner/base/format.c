/* format.c -- numbers and words as reasons and reports write them. A unit or a rounding rule is changed here only;
 * then renew tests/reports/frozen with test_reports --update and read the difference. */
#include "base/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct kg_text kg_format(const char *format, ...)
{
    struct kg_text text;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text.s, sizeof text.s, format, arguments);
    va_end(arguments);
    return text;
}

/* printf may write "-nan": the sign of a NaN says nothing. */
struct kg_text kg_format_number(double value)
{
    if (isnan(value))
        return kg_format("nan");
    return kg_format("%.6g", value);
}

struct kg_text kg_format_time(double time_us)
{
    if (!isfinite(time_us))
        return kg_format_number(time_us);
    if (time_us < 0.9995)
        return kg_format("%.0f ns", time_us * 1e3);
    if (time_us < 9.995)
        return kg_format("%.2f us", time_us);
    if (time_us < 999.95)
        return kg_format("%.1f us", time_us);
    if (time_us < 999995)
        return kg_format("%.2f ms", time_us * 1e-3);
    return kg_format("%.2f s", time_us * 1e-6);
}

struct kg_text kg_format_rate(double tflop_per_s)
{
    if (!(tflop_per_s > 0))
        return kg_format("%s", "");
    double value = tflop_per_s < 0.9995 ? tflop_per_s * 1e3 : tflop_per_s;
    const char *unit = tflop_per_s < 0.9995 ? "GFLOP/s" : "TFLOP/s";
    return kg_format(value < 9.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

struct kg_text kg_format_error(double error)
{
    if (!isfinite(error))
        return kg_format_number(error);
    double size = fabs(error);
    return kg_format(size == 0 || (size >= 0.0005 && size < 1000) ? "%.4f" : "%.1e", error);
}

struct kg_text kg_format_change(double change_pct, int digits)
{
    if (!isfinite(change_pct))
        return kg_format_number(change_pct);
    return kg_format("%+.*f%%", digits, fabs(change_pct) < 0.5 * pow(10, -digits) ? 0 : change_pct);
}

struct kg_text kg_format_speedup(double ratio)
{
    return isnan(ratio) ? kg_format("%s", "") : kg_format("%.2fx", ratio);
}

struct kg_text kg_format_sha(const char *sha, bool dirty)
{
    if (!sha || !*sha)
        return kg_format("unknown");
    return kg_format("%.7s%s", sha, dirty ? "-dirty" : "");
}

void kg_markdown_cell(const char *text, FILE *out)
{
    fputs("| ", out);
    kg_text_put_escaped(*text ? text : "-", "|\\`*<>[]", out);
    fputc(' ', out);
}

void kg_markdown_row(FILE *out, ...)
{
    va_list cells;
    va_start(cells, out);
    for (const char *cell = va_arg(cells, const char *); cell; cell = va_arg(cells, const char *))
        kg_markdown_cell(cell, out);
    va_end(cells);
    fputs("|\n", out);
}

int kg_stream_check(FILE *out, kg_error *ret_error)
{
    if (fflush(out) || ferror(out)) /* a write before this one may have failed: errno is still its */
        return kg_fail(ret_error, KG_EIO, "the report cannot be written: %s", strerror(errno ? errno : EIO));
    return KG_OK;
}

/* success.c -- see success.h. Every comparison asks for success, so that NaN is none. */
#include "reports/success.h"

#include <math.h>

static bool is_time(double value)
{
    return value > 0 && isfinite(value);
}

static bool is_compared(const struct kg_match *match)
{
    return is_time(match->baseline_p50_us) && is_time(match->ours_p50_us);
}

double kg_match_speedup(const struct kg_match *match)
{
    return is_compared(match) ? match->baseline_p50_us / match->ours_p50_us : NAN;
}

/* The slack is for binary fractions: 0.9 of 1 is a gain of exactly 10%. */
bool kg_match_gains(const struct kg_match *match, double pct)
{
    return is_compared(match) && match->ours_p50_us <= match->baseline_p50_us * (1 - pct / 100) * (1 + 1e-12);
}

static bool is_p90_as_good(const struct kg_match *match)
{
    return is_time(match->baseline_p90_us) && is_time(match->ours_p90_us) &&
           match->ours_p90_us <= match->baseline_p90_us;
}

/* `open`: shapes that might have been among the `found`, had they been compared. */
static enum kg_met at_least(size_t wanted, size_t found, size_t open)
{
    return found >= wanted ? KG_MET : found + open >= wanted ? KG_NOT_MEASURED : KG_NOT_MET;
}

enum kg_met kg_met_all(const enum kg_met *criteria, size_t count)
{
    enum kg_met all = KG_MET;
    for (size_t i = 0; i < count; i++)
        all = criteria[i] == KG_NOT_MET || all == KG_NOT_MET ? KG_NOT_MET
              : criteria[i] == KG_MET                        ? all
                                                             : KG_NOT_MEASURED;
    return all;
}

struct kg_success kg_success_of(const struct kg_match *matches, size_t count)
{
    struct kg_success success = { .compared = 0 };
    for (size_t i = 0; i < count; i++) {
        bool some = kg_match_gains(&matches[i], KG_SUCCESS_SOME_PCT);
        success.compared += is_compared(&matches[i]);
        success.much += kg_match_gains(&matches[i], KG_SUCCESS_MUCH_PCT);
        success.some += some;
        success.worse_p90 += some && !is_p90_as_good(&matches[i]);
    }
    size_t open = count - success.compared;
    success.two = at_least(2, success.much, open);
    success.third = at_least(3, success.some, open);
    success.p90 = success.worse_p90 ? KG_NOT_MET : success.some ? KG_MET : KG_NOT_MEASURED;
    return success;
}

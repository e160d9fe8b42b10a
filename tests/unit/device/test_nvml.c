/* test_nvml.c -- what nvml.c makes of an NVML that answers, that answers some things only, and that is not there. The
 * library is fake_nvml.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "device/nvml.h"

#define HERE "0000:01:00.0"

static struct kg_device_state read_state(const char *missing, const char *bus_id)
{
    struct kg_nvml nvml;
    struct kg_device_state state;
    assert_int_equal(setenv("FAKE_NVML", missing, 1), 0);
    kg_nvml_init(&nvml, bus_id);
    kg_nvml_state(&nvml, true, &state);
    kg_nvml_done(&nvml);
    return state;
}

static void all(void **unused)
{
    (void)unused;
    const struct kg_device_state s = read_state("", HERE);
    assert_true(s.power_w == 410.5 && s.power_limit_w == 500 && s.power_limit_default_w == 700);
    assert_true(s.virtualisation == 2 && s.persistence_off == 1 && s.mig == 1);
    assert_true(s.sm_clock_mhz_max == 1980 && s.throttle_reasons == 0x20);
    assert_true(s.sm_clock_mhz == -1 && s.utilisation_pct == -1 && s.other_processes == -1); /* no such functions */
}

static void some(void **unused)
{
    (void)unused;
    const struct kg_device_state s = read_state(",nvmlDeviceGetPersistenceMode,nvmlDeviceGetMigMode,"
                                                "nvmlDeviceGetVirtualizationMode,"
                                                "nvmlDeviceGetPowerManagementDefaultLimit,",
                                                HERE);
    assert_true(s.persistence_off == -1 && s.mig == -1 && s.virtualisation == -1 && s.power_limit_default_w == -1);
    assert_true(s.power_limit_w == 500 && s.sm_clock_mhz_max == 1980);
}

static bool is_unknown(const struct kg_device_state *s)
{
    return s->sm_clock_mhz == -1 && s->memory_clock_mhz == -1 && s->temperature_c == -1 && s->utilisation_pct == -1 &&
           s->power_w == -1 && s->power_limit_w == -1 && s->throttle_reasons == -1 && s->other_processes == -1 &&
           s->sm_clock_mhz_max == -1 && s->power_limit_default_w == -1 && s->virtualisation == -1 &&
           s->persistence_off == -1 && s->mig == -1;
}

static void none(void **unused)
{
    (void)unused;
    const struct kg_device_state other = read_state("", "0000:02:00.0"), dead = read_state(",nvmlInit_v2,", HERE);
    assert_true(is_unknown(&other) && is_unknown(&dead));
}

static void version(void **unused)
{
    (void)unused;
    struct kg_nvml nvml;
    char text[64] = "x", driver[32] = "x";
    kg_nvml_init(&nvml, HERE);
    kg_nvml_version(&nvml, text, sizeof text);
    kg_nvml_driver(&nvml, driver, sizeof driver);
    assert_string_equal(text, "12.580.159.03");
    assert_string_equal(driver, "");
    kg_nvml_done(&nvml);
    kg_nvml_version(&nvml, text, sizeof text);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all), cmocka_unit_test(some), cmocka_unit_test(version),
                                        cmocka_unit_test(none) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

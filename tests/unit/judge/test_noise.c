/* test_noise.c -- conditions named from hand-made readings, and what a bless makes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/bless.h"
#include "judge/noise.h"
#include "scratch.h"

#define BIT(noise) ((kg_noise_set)1 << (noise))

/* An H200 at work with locked clocks and nothing wrong. */
static const struct kg_device_state fine = {
    .sm_clock_mhz = 1500,
    .memory_clock_mhz = 3201,
    .temperature_c = 45,
    .utilisation_pct = 0,
    .power_w = 400,
    .power_limit_w = 700,
    .throttle_reasons = 0x02,
    .other_processes = 0,
    .sm_clock_mhz_max = 1980,
    .power_limit_default_w = 700,
};

static void tables(void **state)
{
    (void)state;
    for (enum kg_noise i = 0; i < KG_NOISES; i++) {
        const struct kg_noise_kind *kind = kg_noise_kind(i);
        assert_true(kind->name && *kind->name && kind->meaning && *kind->meaning && kind->advice && *kind->advice);
        for (enum kg_noise k = 0; k < i; k++) {
            assert_string_not_equal(kind->name, kg_noise_kind(k)->name);
            assert_false(kind->reason & kg_noise_kind(k)->reason);
        }
    }
}

static void reasons(void **state)
{
    (void)state;
    const struct {
        int64_t reasons;
        kg_noise_set set;
    } rows[] = {
        { -1, 0 },
        { 0, 0 },
        { 0x01, 0 }, /* idle */
        { 0x02, 0 }, /* clocks set */
        { 0x04, BIT(KG_NOISE_POWER_CAP) },
        { 0x08, BIT(KG_NOISE_HW_SLOWDOWN) },
        { 0x10, BIT(KG_NOISE_SYNC_BOOST) },
        { 0x20, BIT(KG_NOISE_THERMAL) },
        { 0x48, BIT(KG_NOISE_HW_SLOWDOWN) | BIT(KG_NOISE_HW_THERMAL) },
        { 0x80, BIT(KG_NOISE_POWER_BRAKE) },
        { 0x100, BIT(KG_NOISE_DISPLAY_CLOCKS) },
        { 0x4000, 0 }, /* of a driver to come */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(kg_noise_of_reasons(rows[i].reasons), rows[i].set);
}

static kg_noise_set changed(int64_t reasons, int clock_mhz)
{
    struct kg_device_state s = fine;
    s.throttle_reasons = reasons;
    s.sm_clock_mhz = clock_mhz;
    return kg_noise_of_state(&s);
}

static void clocks_locked(void **state)
{
    (void)state;
    const kg_noise_set not_locked = BIT(KG_NOISE_CLOCKS_NOT_LOCKED);
    assert_int_equal(kg_noise_of_state(&fine), 0);
    assert_int_equal(changed(0x02, 1980), 0);       /* set, to the highest */
    assert_int_equal(changed(0, 1980), not_locked); /* as high as it goes */
    assert_int_equal(changed(0, 1965), not_locked); /* a step below */
    assert_int_equal(changed(0, 1500), 0);          /* held by something that has no name */
    assert_int_equal(changed(0x04, 1500), not_locked | BIT(KG_NOISE_POWER_CAP));
    assert_int_equal(changed(0x10, 1500), BIT(KG_NOISE_SYNC_BOOST));
    assert_int_equal(changed(0x01, 1980), 0); /* idle says nothing of work */
    assert_int_equal(changed(-1, 1980), 0);
    assert_int_equal(changed(0, -1), 0);
}

static void settings(void **state)
{
    (void)state;
    struct kg_device_state s = fine;
    s.virtualisation = 1;
    s.mig = s.persistence_off = 1;
    s.power_limit_w = 500;
    s.other_processes = 2;
    const kg_noise_set set = BIT(KG_NOISE_PASSTHROUGH) | BIT(KG_NOISE_MIG) | BIT(KG_NOISE_NO_PERSISTENCE) |
                             BIT(KG_NOISE_LOW_POWER_LIMIT) | BIT(KG_NOISE_OTHER_PROCESSES);
    assert_int_equal(kg_noise_of_state(&s), set);
    assert_int_equal(kg_noise_of_idle(&s), set);
    assert_int_equal(set & kg_noise_settings(), set & ~BIT(KG_NOISE_OTHER_PROCESSES)); /* processes come and go */
    assert_int_equal(kg_noise_settings() & kg_noise_throttles(), 0);
    for (s.virtualisation = 2; s.virtualisation <= 4; s.virtualisation++)
        assert_int_equal(kg_noise_of_idle(&s), (set & ~BIT(KG_NOISE_PASSTHROUGH)) | BIT(KG_NOISE_VGPU));
}

static void in_use(void **state)
{
    (void)state;
    struct kg_device_state s = fine;
    s.utilisation_pct = 5;
    assert_int_equal(kg_noise_of_idle(&s), BIT(KG_NOISE_IN_USE));
    assert_int_equal(kg_noise_of_state(&s), 0); /* at work it is this process */
    s.utilisation_pct = 4;
    assert_int_equal(kg_noise_of_idle(&s), 0);
}

static void nothing_known(void **state)
{
    (void)state;
    const struct kg_device_state unknown = kg_device_state_unknown(), zero = { 0 };
    const struct kg_cpu_conditions none = { .load = -1, .turbo = -1, .smt = -1, .hypervisor = -1 };
    assert_int_equal(kg_noise_of_state(&unknown) | kg_noise_of_idle(&unknown), 0);
    assert_int_equal(kg_noise_of_state(&zero) | kg_noise_of_idle(&zero), 0);
    assert_int_equal(kg_noise_of_host(&none), 0);
}

static void blocks(void **state)
{
    (void)state;
    struct kg_result *r = calloc(1, sizeof *r);
    r->n_blocks = 2;
    for (int i = 0; i < 2; i++)
        r->blocks[i].before = r->blocks[i].after = fine;
    assert_int_equal(kg_noise_of_blocks(r), 0);
    r->blocks[1].after.sm_clock_mhz = 1515; /* one step of 15 MHz in 1500 is 1% */
    assert_int_equal(kg_noise_of_blocks(r), 0);
    r->blocks[1].before.sm_clock_mhz = r->blocks[1].after.sm_clock_mhz = 1530;
    assert_int_equal(kg_noise_of_block(&r->blocks[1]), 0);
    assert_int_equal(kg_noise_of_blocks(r), BIT(KG_NOISE_CLOCKS_MOVED));
    r->blocks[1].after.sm_clock_mhz = 1500;
    assert_int_equal(kg_noise_of_block(&r->blocks[1]), BIT(KG_NOISE_CLOCKS_MOVED));
    r->blocks[1].before.throttle_reasons = 0x01; /* idle: that clock is of no interest */
    assert_int_equal(kg_noise_of_blocks(r), 0);
    r->blocks[0].after.throttle_reasons = 0x20;
    assert_int_equal(kg_noise_of_blocks(r), BIT(KG_NOISE_THERMAL) | BIT(KG_NOISE_CLOCKS_NOT_LOCKED));
    free(r);
}

static void names(void **state)
{
    (void)state;
    char text[64];
    kg_noise_names(0, text, sizeof text);
    assert_string_equal(text, "");
    kg_noise_names(BIT(KG_NOISE_POWER_CAP) | BIT(KG_NOISE_THERMAL) | BIT(KG_NOISE_SMT), text, sizeof text);
    assert_string_equal(text, "power cap, thermal, SMT");
    memset(text, 'x', sizeof text);
    kg_noise_names(~(kg_noise_set)0, text, 24);
    assert_string_equal(text, "power cap, hardware slo");
    assert_int_equal(text[24], 'x');
}

/* ---- bless ------------------------------------------------------------------------------------------------- */

static void bless_refuses(void **state)
{
    (void)state;
    const struct {
        int64_t reasons;
        const char *named; /* NULL: blessed */
    } rows[] = {
        { 0, NULL },
        { 0x01, NULL },
        { 0x02, NULL },
        { 0x04, NULL }, /* a power-limited kernel always runs so */
        { 0x10, NULL },
        { 0x100, NULL },
        { -1, NULL },
        { 0x08, "hardware slowdown" },
        { 0x24, "thermal" },
        { 0x48, "hardware slowdown, hardware thermal" },
        { 0x80, "power brake" },
    };
    struct kg_result *r = calloc(1, sizeof *r);
    (void)snprintf(r->id, sizeof r->id, "lab/a/s0/flash");
    r->n_blocks = 6;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kg_error error = { 0 };
        char wanted[300];
        for (int k = 0; k < 6; k++)
            r->blocks[k].before = r->blocks[k].after = fine;
        r->blocks[1].after.throttle_reasons = rows[i].reasons;
        r->blocks[4].before.throttle_reasons = rows[i].reasons;
        assert_int_equal(kg_bless_check_noise(r, &error), rows[i].named ? KG_EINVAL : KG_OK);
        (void)snprintf(wanted, sizeof wanted, "lab/a/s0/flash: 2 of 6 blocks were measured under %s, first block 2",
                       rows[i].named);
        assert_string_equal(error.text, rows[i].named ? wanted : "");
    }
    free(r);
}

/* ---- the host ---------------------------------------------------------------------------------------------- */

static void make(const char *root, const char *path)
{
    char whole[2 * SCRATCH_SIZE];
    (void)snprintf(whole, sizeof whole, "%s/%s", root, path);
    assert_int_equal(mkdir(whole, 0777), 0);
}

static void host_is_read(void **state)
{
    (void)state;
    char root[SCRATCH_SIZE];
    struct kg_cpu_conditions c;
    scratch_new(root);
    kg_cpu_conditions(root, &c);
    assert_true(c.load == -1 && c.turbo == -1 && c.smt == -1 && c.hypervisor == -1 && !*c.governor && c.threads > 0);

    static const char *const folders[] = { "proc",
                                           "sys",
                                           "sys/devices",
                                           "sys/devices/system",
                                           "sys/devices/system/cpu",
                                           "sys/devices/system/cpu/smt",
                                           "sys/devices/system/cpu/cpufreq",
                                           "sys/devices/system/cpu/intel_pstate",
                                           "sys/devices/system/cpu/cpu0",
                                           "sys/devices/system/cpu/cpu0/cpufreq" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make(root, folders[i]);
    scratch_write(root, "proc/loadavg", "3.25 1.00 0.50 2/300 4711\n");
    assert_true(kg_cpu_busy_s(root) == -1);
    scratch_write(root, "proc/stat", "cpu  100 20 3 4000 50 6 7 800 90 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    assert_true(kg_cpu_busy_s(root) == 936.0 / (double)sysconf(_SC_CLK_TCK));
    scratch_write(root, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu avx2 hypervisor lahf_lm\n");
    scratch_write(root, "sys/devices/system/cpu/smt/active", "1\n");
    scratch_write(root, "sys/devices/system/cpu/cpufreq/boost", "1\n");
    scratch_write(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    kg_cpu_conditions(root, &c);
    assert_true(c.load == 3.25 && c.turbo == 1 && c.smt == 1 && c.hypervisor == 1);
    assert_string_equal(c.governor, "powersave");

    scratch_write(root, "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"); /* says the opposite, and first */
    scratch_write(root, "sys/devices/system/cpu/smt/active", "");
    scratch_write(root, "proc/cpuinfo", "flags : fpu avx2\n");
    kg_cpu_conditions(root, &c);
    assert_true(c.turbo == 0 && c.smt == -1 && c.hypervisor == 0);
    scratch_free(root);
}

static void host_is_judged(void **state)
{
    (void)state;
    const struct kg_cpu_conditions quiet = { .load = 2, .threads = 8, .governor = "performance" };
    assert_int_equal(kg_noise_of_host(&quiet), 0);
    const struct kg_cpu_conditions loud = {
        .load = 2.1, .threads = 8, .governor = "schedutil", .turbo = 1, .smt = 1, .hypervisor = 1
    };
    assert_int_equal(kg_noise_of_host(&loud), BIT(KG_NOISE_LOAD) | BIT(KG_NOISE_GOVERNOR) | BIT(KG_NOISE_TURBO) |
                                                  BIT(KG_NOISE_SMT) | BIT(KG_NOISE_VIRTUAL_MACHINE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),       cmocka_unit_test(reasons),        cmocka_unit_test(clocks_locked),
        cmocka_unit_test(settings),     cmocka_unit_test(in_use),         cmocka_unit_test(nothing_known),
        cmocka_unit_test(blocks),       cmocka_unit_test(names),          cmocka_unit_test(bless_refuses),
        cmocka_unit_test(host_is_read), cmocka_unit_test(host_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

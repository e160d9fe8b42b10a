/* test_lock.c -- who comes second waits, and is told for whom; what changed is said once it is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/lock.h"
#include "scratch.h"

static char seen[200];
static int n_told;

static void told(const char *holder, double waited_s)
{
    assert_true(waited_s >= 0 && waited_s < 10);
    (void)snprintf(seen, sizeof seen, "%s", holder);
    n_told++;
}

/* A child of another name holds the lock for 300 ms. */
static void a_device_is_waited_for(void **state)
{
    char uuid[64], path[128], wanted[64];
    int ready[2];
    (void)state;
    (void)snprintf(uuid, sizeof uuid, "test-%ld", (long)getpid());
    (void)snprintf(path, sizeof path, P_tmpdir "/kgate-test_%ld.lock", (long)getpid());
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        bool locked = !kg_lock_device(uuid, told, NULL) && !kg_lock_device(uuid, told, NULL); /* not for itself */
        (void)!write(ready[1], "", 1);
        (void)usleep(300000);
        _exit(locked && !n_told ? 0 : 1);
    }
    assert_int_equal(read(ready[0], seen, 1), 1);
    assert_int_equal(kg_lock_device(uuid, told, NULL), KG_OK);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(n_told, 1);
    (void)snprintf(wanted, sizeof wanted, "%ld: test_lock", (long)child);
    assert_string_equal(seen, wanted);
    assert_int_equal(unlink(path), 0);
}

static void changes_are_said_when_true(void **state)
{
    char folder[SCRATCH_SIZE], other[2 * SCRATCH_SIZE], *text = NULL;
    size_t length = 0;
    struct kg_changes changes;
    kg_error error = { 0 };
    (void)state;
    scratch_new(folder);
    FILE *out = open_memstream(&text, &length);
    for (int status = KG_EIO; status <= KG_OK; status += KG_OK - KG_EIO) {
        assert_int_equal(kg_changes_begin(folder, &changes, &error), KG_OK);
        fprintf(changes.lines, "status %d\n", status);
        assert_true(kg_changes_end(&changes, status, out));
    }
    assert_int_equal(kg_changes_begin(folder, &changes, &error), KG_OK);
    assert_false(kg_changes_end(&changes, KG_OK, out));
    (void)fclose(out);
    assert_string_equal(text, "status 0\n");
    free(text);
    (void)snprintf(other, sizeof other, "%s/no/such", folder);
    assert_int_equal(kg_changes_begin(other, &changes, &error), KG_EIO);
    assert_non_null(strstr(error.text, "/no/such: No such file or directory"));
    scratch_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_waited_for),
        cmocka_unit_test(changes_are_said_when_true),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

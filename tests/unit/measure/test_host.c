/* test_host.c -- services of the host: the cache, libraries, backends opened once, knobs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "measure/host.h"
#include "scratch.h"

static char folder[SCRATCH_SIZE];
static struct kg_host_state host;

static int host_new(void **state)
{
    (void)state;
    scratch_new(folder);
    kg_host_init(&host);
    host.cache = folder;
    return 0;
}

static int host_free(void **state)
{
    (void)state;
    kg_host_done(&host);
    scratch_free(folder);
    return 0;
}

/* ---- cache ------------------------------------------------------------------------------------------------- */

static void cached(const char *key, const char *wanted)
{
    char *text = NULL;
    int status = host.host.cache_read(&host.host, key, &text);
    assert_int_equal(status, wanted ? KG_OK : KG_ENOTFOUND);
    if (wanted)
        assert_string_equal(text, wanted);
    else
        assert_null(text);
    free(text);
}

static int cache(const char *key, const char *text)
{
    return host.host.cache_write(&host.host, key, text);
}

/* How many files are in a folder, and the name of one of them. */
static int files_in(const char *path, char *ret_name, size_t size)
{
    int count = 0;
    DIR *entries = opendir(path);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.') {
            snprintf(ret_name, size, "%s", entry->d_name);
            count++;
        }
    closedir(entries);
    return count;
}

static void what_is_written_is_read(void **state)
{
    char name[300];
    (void)state;
    cached("a key", NULL);
    assert_int_equal(cache("a key", "text\nof two lines"), KG_OK);
    cached("a key", "text\nof two lines");
    cached("a ke", NULL);
    cached("a key ", NULL);
    assert_int_equal(cache("another key", ""), KG_OK);
    cached("another key", "");
    cached("a key", "text\nof two lines");
    assert_int_equal(cache("a key", "shorter"), KG_OK);
    cached("a key", "shorter");
    assert_int_equal(files_in(folder, name, sizeof name), 2); /* no temporary file is left */
}

static void long_texts(void **state)
{
    (void)state;
    const size_t size = 300000;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    assert_int_equal(cache("long", text), KG_OK);
    cached("long", text);
    free(text);
}

/* The only file of the folder. */
static void entry_path(char ret_path[2 * SCRATCH_SIZE])
{
    char name[300];
    assert_int_equal(files_in(folder, name, sizeof name), 1);
    snprintf(ret_path, 2 * SCRATCH_SIZE, "%s/%s", folder, name);
}

/* Another key's whole entry under this key's hash. */
static void collisions_are_misses(void **state)
{
    static const char *const others[] = { "other key", "b key", "a ke", "a key and more", "" };
    char path[2 * SCRATCH_SIZE], other[2 * SCRATCH_SIZE];
    (void)state;
    assert_int_equal(cache("a key", "text"), KG_OK);
    entry_path(path);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(remove(path), 0);
        assert_int_equal(cache(others[i], "text"), KG_OK);
        entry_path(other);
        assert_int_equal(rename(other, path), 0);
        cached("a key", NULL);
    }
    assert_int_equal(cache("a key", "text again"), KG_OK);
    cached("a key", "text again");
    entry_path(path);
}

/* ---- bytes in the cache -------------------------------------------------------------------------------------- */

static const char code[] = "\x7f"
                           "ELF\0\n\0 5 0123456789abcdef\n\xff\0"; /* with its terminator */

static void cached_bytes(const char *key, const void *wanted, size_t wanted_size)
{
    void *bytes = NULL;
    size_t size = 77;
    int status = host.host.cache_read_bytes(&host.host, key, &bytes, &size);
    assert_int_equal(status, wanted ? KG_OK : KG_ENOTFOUND);
    assert_int_equal(size, wanted ? wanted_size : 77);
    if (wanted)
        assert_memory_equal(bytes, wanted, wanted_size);
    else
        assert_null(bytes);
    free(bytes);
}

static int cache_bytes(const char *key, const void *bytes, size_t size)
{
    return host.host.cache_write_bytes(&host.host, key, bytes, size);
}

static void bytes_of_any_kind_are_kept(void **state)
{
    (void)state;
    cached_bytes("a key", NULL, 0);
    assert_int_equal(cache_bytes("a key", code, sizeof code), KG_OK);
    cached_bytes("a key", code, sizeof code);
    cached("a key", NULL); /* no text: it holds a NUL before its last */
    assert_int_equal(cache_bytes("a key", code, 3), KG_OK);
    cached_bytes("a key", code, 3);
    cached("a key", NULL); /* no text: nothing ends it */
    assert_int_equal(cache_bytes("a key", code, 0), KG_OK);
    cached_bytes("a key", code, 0);
    cached("a key", NULL);
    assert_int_equal(cache("a key", "text"), KG_OK);
    cached_bytes("a key", "text", 5);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fwrite(bytes, 1, size, file) == size);
    assert_int_equal(fclose(file), 0);
}

static void damaged_entries_are_misses(void **state)
{
    char path[2 * SCRATCH_SIZE], *whole = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(cache_bytes("a key", code, sizeof code), KG_OK);
    entry_path(path);
    assert_int_equal(kg_file_read(path, &whole, &size, NULL), KG_OK);
    for (size_t cut = 0; cut < size; cut++) {
        write_file(path, whole, cut);
        cached_bytes("a key", NULL, 0);
    }
    for (size_t i = 0; i < size; i++) { /* one bit of each byte; 0x40 leaves no digit what it was */
        whole[i] ^= 0x40;
        write_file(path, whole, size);
        whole[i] ^= 0x40;
        cached_bytes("a key", NULL, 0);
    }
    whole = realloc(whole, size + 1);
    whole[size] = 'x';
    write_file(path, whole, size + 1);
    free(whole);
    cached_bytes("a key", NULL, 0);
    assert_int_equal(cache_bytes("a key", code, sizeof code), KG_OK); /* and written anew */
    cached_bytes("a key", code, sizeof code);
    entry_path(path);
}

enum { WRITERS = 16, WRITES = 8, LARGE = 100000 };

/* Of one writer, from end to end. */
static bool whole_of_one(const char *bytes, size_t size)
{
    return size == LARGE && !memcmp(bytes, bytes + 1, LARGE - 1) && *bytes >= 'a' && *bytes < 'a' + WRITERS;
}

static int write_and_read(char letter)
{
    char *mine = malloc(LARGE);
    int wrong = !mine;
    for (int i = 0; i < WRITES && !wrong; i++) {
        void *bytes = NULL;
        size_t size = 0;
        memset(mine, letter, LARGE);
        wrong = cache_bytes("a key", mine, LARGE) || host.host.cache_read_bytes(&host.host, "a key", &bytes, &size) ||
                !whole_of_one(bytes, size);
        free(bytes);
    }
    free(mine);
    return wrong;
}

static void of_many_writers_one_entry_is_left(void **state)
{
    char path[2 * SCRATCH_SIZE];
    void *bytes = NULL;
    size_t size = 0;
    int failed = 0;
    (void)state;
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(write_and_read((char)('a' + i)));
    }
    for (int i = 0, status = 0; i < WRITERS; i++)
        failed += wait(&status) < 0 || status != 0;
    assert_int_equal(failed, 0);
    assert_int_equal(host.host.cache_read_bytes(&host.host, "a key", &bytes, &size), KG_OK);
    assert_true(whole_of_one(bytes, size));
    free(bytes);
    entry_path(path);
}

static void keys_of_two_lines_are_not_kept(void **state)
{
    char name[300];
    (void)state;
    assert_int_equal(cache("a\nkey", "text"), KG_ENOTFOUND);
    cached("a\nkey", NULL);
    assert_int_equal(files_in(folder, name, sizeof name), 0);
}

static void folders_are_made(void **state)
{
    char deep[SCRATCH_SIZE + 32], name[300];
    (void)state;
    snprintf(deep, sizeof deep, "%s/some/where", folder);
    host.cache = deep;
    cached("a key", NULL);
    assert_int_equal(cache("a key", "text"), KG_OK);
    cached("a key", "text");
    assert_int_equal(files_in(deep, name, sizeof name), 1);
}

static void without_a_folder_nothing_is_kept(void **state)
{
    char blocked[SCRATCH_SIZE + 32];
    (void)state;
    host.cache = "";
    assert_int_equal(cache("a key", "text"), KG_ENOTFOUND);
    cached("a key", NULL);
    cached_bytes("a key", NULL, 0);
    host.cache = NULL;
    assert_int_equal(cache("a key", "text"), KG_ENOTFOUND);
    cached("a key", NULL);
    scratch_write(folder, "file", "");
    snprintf(blocked, sizeof blocked, "%s/file", folder);
    host.cache = blocked; /* a file is in the way */
    assert_int_equal(cache("a key", "text"), KG_EIO);
    cached("a key", NULL);
}

/* A rename that cannot be: the temporary file goes. */
static void failed_writes_leave_nothing(void **state)
{
    char name[300], path[2 * SCRATCH_SIZE];
    (void)state;
    assert_int_equal(cache("a key", "text"), KG_OK);
    (void)files_in(folder, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(cache("a key", "text"), KG_EIO);
    assert_int_equal(files_in(folder, name, sizeof name), 1);
}

/* ---- libraries --------------------------------------------------------------------------------------------- */

static void libraries(void **state)
{
    void *library = NULL, *symbol = NULL;
    kg_error error = { 0 };
    const char *paths[] = { "/nowhere", folder };
    (void)state;
    assert_int_equal(host.host.library_open(&host.host, "libm.so.6", &library, &error), KG_OK);
    assert_int_equal(host.host.library_symbol(library, "cos", &symbol, &error), KG_OK);
    assert_non_null(symbol);
    void *kept = symbol;
    assert_int_equal(host.host.library_symbol(library, "kgate_has_no_such_symbol", &symbol, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "the library has no kgate_has_no_such_symbol");
    assert_ptr_equal(symbol, kept);
    kept = library;
    assert_int_equal(host.host.library_open(&host.host, "libnosuch.so.7", &library, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "library not found: libnosuch.so.7 (see --library-path)");
    assert_ptr_equal(library, kept);
    /* --library-path comes first: what is there is taken, or refused, and not looked for elsewhere */
    scratch_write(folder, "libm.so.6", "no library");
    host.library_paths = paths;
    host.n_library_paths = 2;
    assert_int_equal(host.host.library_open(&host.host, "libm.so.6", &library, &error), KG_EUNSUPPORTED);
    assert_non_null(strstr(error.text, folder));
    assert_ptr_equal(library, kept);
    host.n_library_paths = 1;
    assert_int_equal(host.host.library_open(&host.host, "libm.so.6", &library, &error), KG_OK);
}

static const char *file_of(void *library)
{
    struct link_map *map = NULL;
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return map->l_name;
}

/* ---- questions apart --------------------------------------------------------------------------------------- */

static int n_asked;

/* Which of several times it is asked, and what. */
static int echo(const kg_host *its, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                kg_error *ret_error)
{
    char *answer = malloc(size);
    (void)its, (void)ret_error;
    memcpy(answer, asked, size);
    answer[0] = (char)('0' + ++n_asked);
    *ret_answer = answer;
    *ret_size = size;
    return KG_OK;
}

static int refuse(const kg_host *its, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                  kg_error *ret_error)
{
    (void)its, (void)size, (void)ret_answer, (void)ret_size;
    return kg_fail(ret_error, KG_EINVAL, "refused: %s", (const char *)asked);
}

static int end(const kg_host *its, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
               kg_error *ret_error)
{
    (void)its, (void)size, (void)ret_answer, (void)ret_size, (void)ret_error;
    if (!strcmp(asked, "crash"))
        raise(SIGKILL);
    exit(0);
}

static int open_there(const kg_host *its, const void *asked, size_t size, void **ret_answer, size_t *ret_size,
                      kg_error *ret_error)
{
    void *library = NULL;
    (void)size;
    int status = its->library_open(its, asked, &library, ret_error);
    if (status)
        return status;
    *ret_answer = strdup(file_of(library));
    *ret_size = strlen(*ret_answer) + 1;
    return KG_OK;
}

static char *answer_of(kg_apart_fn *function, const char *asked, size_t size)
{
    void *answer = NULL;
    size_t answered = 0;
    kg_error error = { 0 };
    if (host.host.ask_apart(&host.host, function, asked, size, &answer, &answered, &error))
        fail_msg("%s", error.text);
    return answer;
}

static void no_answer(kg_apart_fn *function, const char *asked, int status, const char *why)
{
    void *answer = &answer;
    size_t size = 7;
    kg_error error = { 0 };
    assert_int_equal(host.host.ask_apart(&host.host, function, asked, strlen(asked) + 1, &answer, &size, &error),
                     status);
    assert_string_equal(error.text, why);
    assert_ptr_equal(answer, &answer);
    assert_int_equal(size, 7);
}

static void apart_answers(void **state)
{
    enum { LARGE = 3000000 };
    char *large = calloc(1, LARGE);
    (void)state;
    no_answer(echo, "?", KG_EUNSUPPORTED, "this process has none to ask apart");
    assert_int_equal(kg_apart_start(&host.host, &host.apart, NULL), KG_OK);
    for (int i = 0; i < 2; i++) { /* nothing is kept from the first */
        char *answer = answer_of(echo, "?bc", 4);
        assert_string_equal(answer, "1bc");
        free(answer);
    }
    assert_int_equal(n_asked, 0);
    no_answer(refuse, "what", KG_EINVAL, "refused: what");
    no_answer(end, "crash", KG_EDEVICE, "the process asked apart ended by signal 9");
    no_answer(end, "exit", KG_EDEVICE, "the process asked apart ended without an answer");
    large[LARGE - 1] = 'x';
    char *answer = answer_of(echo, large, LARGE);
    large[0] = '1';
    assert_memory_equal(answer, large, LARGE);
    free(answer);
    free(large);
    const int pid = host.apart.pid;
    kg_apart_end(&host.apart);
    assert_int_equal(kill(pid, 0), -1);
    no_answer(echo, "?", KG_EUNSUPPORTED, "this process has none to ask apart");
}

/* What another library of this process opened under the name decides for library_open here alone. */
static void apart_opens_its_own(void **state)
{
    static const char soname[] = "libanl.so.1";
    char other[SCRATCH_SIZE + 32];
    void *library = NULL;
    kg_error error = { 0 };
    (void)state;
    assert_int_equal(kg_apart_start(&host.host, &host.apart, NULL), KG_OK);
    char *there = answer_of(open_there, soname, sizeof soname);
    assert_null(dlopen(soname, RTLD_NOW | RTLD_NOLOAD));
    snprintf(other, sizeof other, "%s/%s", folder, soname);
    assert_int_equal(kg_file_copy(there, other, &error), KG_OK);
    assert_non_null(dlopen(other, RTLD_NOW | RTLD_GLOBAL));
    assert_int_equal(host.host.library_open(&host.host, soname, &library, &error), KG_OK);
    assert_string_equal(file_of(library), other);
    char *again = answer_of(open_there, soname, sizeof soname);
    assert_string_equal(again, there);
    free(there);
    free(again);
    no_answer(open_there, "libnosuch.so.7", KG_EUNSUPPORTED, "library not found: libnosuch.so.7 (see --library-path)");
    kg_apart_end(&host.apart);
}

/* ---- backends ---------------------------------------------------------------------------------------------- */

static int n_opened;
static char closed[8];

static int open_library(const kg_backend *self, const kg_host *its_host, const kg_device *device, void **ret_library,
                        kg_error *ret_error)
{
    assert_true(its_host == &host.host && device->index == 5);
    if (!self->data)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "not here");
    n_opened++;
    *ret_library = (void *)self->data;
    return KG_OK;
}

static void close_library(const kg_backend *self, void *library)
{
    assert_ptr_equal(library, self->data);
    strcat(closed, self->name);
}

static void backends_open_once_and_close_in_turn(void **state)
{
    static const kg_backend a = { .name = "a", .data = "A", .open = open_library, .close = close_library },
                            b = { .name = "b", .data = "B", .open = open_library, .close = close_library },
                            c = { .name = "c", .data = "C", .open = open_library },
                            absent = { .name = "d", .open = open_library, .close = close_library },
                            plain = { .name = "e" };
    const kg_device device = { .index = 5 };
    const kg_backend *const order[] = { &a, &b, &a, &c, &b };
    kg_error error = { 0 };
    void *library = NULL;
    (void)state;
    n_opened = 0;
    closed[0] = '\0';
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(kg_host_open_backend(&host, order[i], &device, &library, &error), KG_OK);
        assert_ptr_equal(library, order[i]->data);
    }
    assert_int_equal(n_opened, 3);
    assert_int_equal(kg_host_open_backend(&host, &absent, &device, &library, &error), KG_EUNSUPPORTED);
    assert_string_equal(error.text, "not here");
    assert_ptr_equal(library, b.data);
    assert_int_equal(kg_host_open_backend(&host, &plain, &device, &library, &error), KG_OK);
    assert_null(library);
    kg_host_done(&host);
    assert_string_equal(closed, "ba"); /* last first; neither what has no close nor what did not open */
    kg_host_done(&host);
    assert_string_equal(closed, "ba");
}

static void too_many_backends(void **state)
{
    static kg_backend many[KG_MAX_BACKENDS + 1];
    const kg_device device = { .index = 5 };
    void *library = NULL;
    kg_error error = { 0 };
    (void)state;
    for (size_t i = 0; i <= KG_MAX_BACKENDS; i++) {
        many[i] = (kg_backend){ .name = "x", .data = "X", .open = open_library };
        int status = kg_host_open_backend(&host, &many[i], &device, &library, &error);
        assert_int_equal(status, i < KG_MAX_BACKENDS ? KG_OK : KG_ENOMEM);
    }
    assert_string_equal(error.text, "more than 256 backends with libraries");
}

/* ---- knobs ------------------------------------------------------------------------------------------------- */

struct knobs {
    int64_t tile, stages;
    bool fast;
};

static const kg_field knob_fields[] = {
    { "tile", offsetof(struct knobs, tile), KG_INT, .min = 1, .max = 64, .fallback = 8 },
    { "stages", offsetof(struct knobs, stages), KG_INT, .min = 0, .max = 4 },
    { "fast", offsetof(struct knobs, fast), KG_BOOL, .help = "flag" },
};
static const kg_backend tiled = { .name = "tiled", .knobs = KG_LIST(knob_fields), .knobs_size = sizeof(struct knobs) };

static struct knobs knobs_of(const char *const *given, size_t count)
{
    void *knobs = NULL;
    kg_error error = { 0 };
    host.knobs = given;
    host.n_knobs = count;
    if (kg_host_knobs(&host, &tiled, &knobs, &error))
        fail_msg("refused: %s", error.text);
    struct knobs copy = *(struct knobs *)knobs;
    free(knobs);
    return copy;
}

static void knobs(void **state)
{
    static const char *const given[] = { "tile=16", "another_backends=7", "fast=true", "tile=32", "til=1", "tiles=1",
                                         "stages" };
    static const char *const wrong[] = { "stages=1", "tile=65" };
    static const kg_backend plain = { .name = "plain" };
    void *none = &none;
    kg_error error = { 0 };
    (void)state;
    struct knobs got = knobs_of(NULL, 0);
    assert_true(got.tile == 8 && got.stages == 0 && !got.fast);
    got = knobs_of(given, 7);
    assert_true(got.tile == 32 && got.stages == 0 && got.fast); /* the last one given holds */
    assert_int_equal(kg_host_knobs(&host, &plain, &none, &error), KG_OK);
    assert_null(none);
    host.knobs = wrong;
    host.n_knobs = 2;
    assert_int_equal(kg_host_knobs(&host, &tiled, &none, &error), KG_EINVAL);
    assert_string_equal(error.text, "tile=65 is outside 1 to 64");
    assert_null(none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, host_new, host_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read),
        TEST(long_texts),
        TEST(collisions_are_misses),
        TEST(bytes_of_any_kind_are_kept),
        TEST(damaged_entries_are_misses),
        TEST(of_many_writers_one_entry_is_left),
        TEST(keys_of_two_lines_are_not_kept),
        TEST(folders_are_made),
        TEST(without_a_folder_nothing_is_kept),
        TEST(failed_writes_leave_nothing),
        TEST(libraries),
        TEST(apart_answers),
        TEST(apart_opens_its_own),
        TEST(backends_open_once_and_close_in_turn),
        TEST(too_many_backends),
        TEST(knobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

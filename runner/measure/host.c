/* host.c -- services of the host: libraries by path, a cache by key, a log. */
#include "measure/host.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/field.h"
#include "plan/module.h"
#include "base/file.h"
#include "base/random.h"

enum { PATH_SIZE = 4096 };

static const struct kg_host_state *state_of(const kg_host *host)
{
    return (const struct kg_host_state *)host;
}

/* Where --library-path has it; false: the loader is to look. */
static bool library_path(const struct kg_host_state *state, const char *soname, char *ret_path, size_t size)
{
    for (size_t i = 0; i < state->n_library_paths; i++) {
        snprintf(ret_path, size, "%s/%s", state->library_paths[i], soname);
        if (access(ret_path, R_OK) == 0)
            return true;
    }
    return false;
}

static int library_open(const kg_host *host, const char *soname, void **ret_library, kg_error *ret_error)
{
    char path[PATH_SIZE];
    const bool at_path = library_path(state_of(host), soname, path, sizeof path);
    void *library = dlopen(at_path ? path : soname, RTLD_NOW | RTLD_GLOBAL);
    if (!library && at_path)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "%s", dlerror());
    if (!library)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "library not found: %s (see --library-path)", soname);
    *ret_library = library;
    return KG_OK;
}

static int ask_apart(const kg_host *host, kg_apart_fn *function, const void *asked, size_t size, void **ret_answer,
                     size_t *ret_size, kg_error *ret_error)
{
    return kg_apart_ask(&state_of(host)->apart, function, asked, size, ret_answer, ret_size, ret_error);
}

static int library_symbol(void *library, const char *name, void **ret_symbol, kg_error *ret_error)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "the library has no %s", name);
    *ret_symbol = symbol;
    return KG_OK;
}

/* ---- the cache: an entry a file, "KEY\nSIZE DIGEST\n" and the bytes ------------------------------------------------
 */

struct entry {
    const char *key;
    const void *bytes;
    size_t size;
};

static uint64_t digest_of(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    uint64_t digest = 0;
    for (size_t i = 0; i < size; i++)
        digest = kg_mix64(digest + byte[i]);
    return digest;
}

/* Named by the key's hash; the key stands in the file, so that a collision reads as a miss. */
static int cache_path(const kg_host *host, const char *key, char *ret_path, size_t size)
{
    const struct kg_host_state *state = state_of(host);
    if (!state->cache || !*state->cache || strchr(key, '\n'))
        return KG_ENOTFOUND;
    int length = snprintf(ret_path, size, "%s/%016" PRIx64 ".entry", state->cache, digest_of(key, strlen(key)));
    return length > 0 && (size_t)length < size ? KG_OK : KG_ENOTFOUND;
}

/* Where the entry's bytes begin in the file's text; NULL: it is another key's, cut, or damaged. */
static const char *find_bytes(const char *text, size_t length, const char *key, size_t *ret_size)
{
    const size_t key_length = strlen(key);
    uint64_t digest = 0;
    size_t size = 0;
    int at = 0;
    if (length <= key_length || memcmp(text, key, key_length) || text[key_length] != '\n')
        return NULL;
    text += key_length + 1;
    length -= key_length + 1;
    if (sscanf(text, "%zu %16" SCNx64 "%n", &size, &digest, &at) != 2 || text[at] != '\n' ||
        length - (size_t)at - 1 != size || digest_of(text + at + 1, size) != digest)
        return NULL;
    *ret_size = size;
    return text + at + 1;
}

static int cache_read_bytes(const kg_host *host, const char *key, void **ret_bytes, size_t *ret_size)
{
    char path[4096], *text = NULL;
    size_t length = 0, size = 0;
    if (cache_path(host, key, path, sizeof path) || kg_file_read(path, &text, &length, NULL))
        return KG_ENOTFOUND;
    const char *bytes = find_bytes(text, length, key, &size);
    if (!bytes) {
        free(text);
        return KG_ENOTFOUND;
    }
    memmove(text, bytes, size);
    *ret_bytes = text;
    *ret_size = size;
    return KG_OK;
}

static int write_entry(FILE *file, const void *what, kg_error *ret_error)
{
    const struct entry *entry = what;
    (void)ret_error;
    fprintf(file, "%s\n%zu %016" PRIx64 "\n", entry->key, entry->size, digest_of(entry->bytes, entry->size));
    fwrite(entry->bytes, 1, entry->size, file);
    return KG_OK;
}

static int cache_write_bytes(const kg_host *host, const char *key, const void *bytes, size_t size)
{
    const struct entry entry = { key, bytes, size };
    char path[4096];
    if (cache_path(host, key, path, sizeof path))
        return KG_ENOTFOUND;
    if (kg_folder_make(state_of(host)->cache, NULL) || kg_file_replace(path, write_entry, &entry, NULL))
        return KG_EIO;
    return KG_OK;
}

/* A text is kept with its terminator. */
static int cache_read(const kg_host *host, const char *key, char **ret_text)
{
    void *bytes = NULL;
    size_t size = 0;
    int status = cache_read_bytes(host, key, &bytes, &size);
    if (!status && memchr(bytes, '\0', size) != (char *)bytes + size - 1) {
        free(bytes);
        status = KG_ENOTFOUND;
    }
    if (!status)
        *ret_text = bytes;
    return status;
}

static int cache_write(const kg_host *host, const char *key, const char *text)
{
    return cache_write_bytes(host, key, text, strlen(text) + 1);
}

/* ---- the log --------------------------------------------------------------------------------------------------- */

/* In one write: workers share the log. */
KG_PRINTF(2, 3)
static void write_log(const kg_host *host, const char *format, ...)
{
    va_list arguments;
    char *line = NULL;
    size_t length = 0;
    (void)host;
    FILE *text = open_memstream(&line, &length);
    if (!text)
        return;
    va_start(arguments, format);
    vfprintf(text, format, arguments);
    va_end(arguments);
    fputc('\n', text);
    if (fclose(text) == 0)
        (void)!write(STDERR_FILENO, line, length);
    free(line);
}

static void tell_part(const kg_host *host, const char *what)
{
    const struct kg_host_state *state = (const struct kg_host_state *)(const void *)host;
    if (state->part)
        state->part(state->argument, what);
}

void kg_host_init(struct kg_host_state *state)
{
    *state = (struct kg_host_state){ .host = { .abi = KG_ABI,
                                               .library_open = library_open,
                                               .library_symbol = library_symbol,
                                               .cache_read = cache_read,
                                               .cache_write = cache_write,
                                               .log = write_log,
                                               .cache_read_bytes = cache_read_bytes,
                                               .cache_write_bytes = cache_write_bytes,
                                               .part = tell_part,
                                               .library_open_of_abi_7 = library_open,
                                               .ask_apart = ask_apart },
                                     .apart = { .socket = -1 } };
}

void kg_host_done(struct kg_host_state *state)
{
    while (state->n_open > 0) {
        state->n_open--;
        const kg_backend *backend = state->open[state->n_open].backend;
        if (backend->close)
            backend->close(kg_backend_own(backend), state->open[state->n_open].library);
    }
    kg_apart_end(&state->apart);
}

int kg_host_open_backend(struct kg_host_state *state, const kg_backend *backend, const kg_device *device,
                         void **ret_library, kg_error *ret_error)
{
    void *library = NULL;
    for (size_t i = 0; i < state->n_open; i++) {
        if (state->open[i].backend == backend) {
            *ret_library = state->open[i].library;
            return KG_OK;
        }
    }
    if (!backend->open) {
        *ret_library = NULL;
        return KG_OK;
    }
    if (state->n_open == KG_MAX_BACKENDS)
        return kg_fail(ret_error, KG_ENOMEM, "more than %d backends with libraries", KG_MAX_BACKENDS);
    int status = backend->open(kg_backend_own(backend), &state->host, device, &library, ret_error);
    if (status)
        return status;
    state->open[state->n_open].backend = backend;
    state->open[state->n_open++].library = library;
    *ret_library = library;
    return KG_OK;
}

int kg_host_knobs(const struct kg_host_state *state, const kg_backend *backend, void **ret_knobs, kg_error *ret_error)
{
    *ret_knobs = NULL;
    if (!backend->knobs_size)
        return KG_OK;
    void *knobs = calloc(1, backend->knobs_size);
    if (!knobs)
        return kg_fail(ret_error, KG_ENOMEM, "out of memory for knobs");
    kg_fields_fall_back(backend->knobs, knobs);
    int status = KG_OK;
    for (size_t i = 0; i < state->n_knobs && !status; i++) {
        size_t length = strcspn(state->knobs[i], "=");
        const kg_field *field = kg_fields_find(backend->knobs, state->knobs[i], length);
        if (field && state->knobs[i][length])
            status = kg_field_set(field, knobs, state->knobs[i] + length + 1, ret_error);
    }
    if (status)
        free(knobs);
    else
        *ret_knobs = knobs;
    return status;
}

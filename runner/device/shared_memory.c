/* shared_memory.c -- a file in memory, of which each allocation takes pages that no other one ever had. */
#include "device/device_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)1 << 40) /* of addresses; pages are taken when they are written */

struct kg_shared_memory {
    int file;
    char *start;
    size_t bytes;  /* of addresses */
    size_t used;   /* bytes ever taken */
    size_t *sizes; /* by page: bytes of the allocation that begins there */
    size_t n_sizes;
};

/* Where another process finds the bytes. */
struct place {
    pid_t process;
    int file;
    size_t at;
};
_Static_assert(sizeof(struct place) <= sizeof((struct kg_shared *)0)->handle, "a place fits into a handle");

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t kg_cpu_whole_pages(size_t bytes)
{
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/* A process needs addresses for more than its buffers. */
static size_t most_bytes(void)
{
    struct rlimit limit;
    size_t most = MOST_BYTES;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < most)
        most = (size_t)limit.rlim_cur;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 4 < most)
        most = (size_t)limit.rlim_cur / 4;
    return most / page_bytes() * page_bytes();
}

bool kg_shared_memory_is_limited(void)
{
    return most_bytes() < MOST_BYTES;
}

static struct kg_shared_memory *open_memory(kg_error *ret_error)
{
    struct kg_shared_memory *m = calloc(1, sizeof *m);
    if (!m) {
        kg_fail(ret_error, KG_ENOMEM, "no host memory for a device");
        return NULL;
    }
    m->file = memfd_create("kgate", MFD_CLOEXEC);
    m->start = MAP_FAILED;
    m->bytes = most_bytes();
    if (m->file >= 0 && ftruncate(m->file, (off_t)m->bytes) == 0)
        m->start = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->file, 0);
    if (m->start != MAP_FAILED) {
        /* A kernel that crashes would leave a core of all addresses. */
        (void)madvise(m->start, m->bytes, MADV_DONTDUMP);
        return m;
    }
    kg_fail(ret_error, KG_ENOMEM, "no host memory for buffers: %s", strerror(errno));
    if (m->file >= 0)
        close(m->file);
    free(m);
    return NULL;
}

static int remember(struct kg_shared_memory *m, size_t bytes, kg_error *ret_error)
{
    const size_t page = m->used / page_bytes(), wanted = page + bytes / page_bytes();
    if (m->used + bytes > m->bytes)
        return kg_fail(ret_error, KG_ENOMEM, "no addresses for a buffer of %zu bytes", bytes);
    if (wanted > m->n_sizes) {
        size_t *sizes = realloc(m->sizes, 2 * wanted * sizeof *sizes);
        if (!sizes)
            return kg_fail(ret_error, KG_ENOMEM, "no host memory for a list of buffers");
        m->sizes = sizes;
        m->n_sizes = 2 * wanted;
    }
    m->sizes[page] = bytes;
    return KG_OK;
}

int kg_shared_memory_take(struct kg_shared_memory **memory, size_t bytes, void **ret_data, kg_error *ret_error)
{
    if (!*memory && !(*memory = open_memory(ret_error)))
        return KG_ENOMEM;
    struct kg_shared_memory *m = *memory;
    const size_t whole = kg_cpu_whole_pages(bytes ? bytes : 1);
    int status = remember(m, whole, ret_error);
    if (!status && fallocate(m->file, 0, (off_t)m->used, (off_t)whole) != 0)
        status = kg_fail(ret_error, KG_ENOMEM, "no host memory for a buffer of %zu bytes", bytes);
    if (status)
        return status;
    *ret_data = m->start + m->used;
    m->used += whole;
    return KG_OK;
}

static size_t size_at(const struct kg_shared_memory *m, const void *data)
{
    return m->sizes[(size_t)((const char *)data - m->start) / page_bytes()];
}

void kg_shared_memory_give(struct kg_shared_memory *memory, void *data)
{
    (void)madvise(data, size_at(memory, data), MADV_REMOVE);
}

bool kg_shared_memory_has(const struct kg_shared_memory *memory, const void *data)
{
    const uintptr_t at = (uintptr_t)data, start = memory ? (uintptr_t)memory->start : 0;
    return memory && at >= start && at - start < memory->used;
}

void kg_shared_memory_done(struct kg_shared_memory *memory)
{
    if (!memory)
        return;
    munmap(memory->start, memory->bytes);
    close(memory->file);
    free(memory->sizes);
    free(memory);
}

int kg_shared_memory_share(const struct kg_shared_memory *memory, const void *data, size_t bytes,
                           struct kg_shared *ret_shared, kg_error *ret_error)
{
    if (!kg_shared_memory_has(memory, data))
        return kg_fail(ret_error, KG_EINVAL, "a buffer is not in shared memory");
    const struct place place = { getpid(), memory->file, (size_t)((const char *)data - memory->start) };
    *ret_shared = (struct kg_shared){ .bytes = kg_cpu_whole_pages(bytes) };
    memcpy(ret_shared->handle, &place, sizeof place);
    return KG_OK;
}

void *kg_shared_memory_alias(const struct kg_shared_memory *memory, const void *data, size_t bytes)
{
    const size_t at = (size_t)((const char *)data - memory->start), from = at / page_bytes() * page_bytes();
    char *alias =
        mmap(NULL, at - from + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory->file, (off_t)from);
    return alias == MAP_FAILED ? NULL : alias + (at - from);
}

void kg_shared_memory_unalias(void *alias, size_t bytes)
{
    char *from = (char *)((uintptr_t)alias / page_bytes() * page_bytes());
    munmap(from, (size_t)((char *)alias - from) + bytes);
}

int kg_shared_memory_map(const struct kg_shared *shared, void **ret_data, kg_error *ret_error)
{
    struct place place;
    char path[64];
    memcpy(&place, shared->handle, sizeof place);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)place.process, place.file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    void *data =
        file < 0 ? MAP_FAILED : mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)place.at);
    const int cause = errno;
    if (file >= 0)
        close(file);
    if (data == MAP_FAILED)
        return kg_fail(ret_error, KG_ENOMEM, "cannot map memory of another build: %s", strerror(cause));
    *ret_data = data;
    return KG_OK;
}

void kg_shared_memory_unmap(void *data, size_t bytes)
{
    munmap(data, kg_cpu_whole_pages(bytes));
}

/* scratch.h -- a folder of its own for a unit test, under $TMPDIR, and small files in it. */
#ifndef KG_SCRATCH_H
#define KG_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCRATCH_SIZE 512

static inline void scratch_new(char ret_folder[SCRATCH_SIZE])
{
    const char *parent = getenv("TMPDIR");
    (void)snprintf(ret_folder, SCRATCH_SIZE, "%.400s/kgate-unit-XXXXXX", parent && *parent ? parent : P_tmpdir);
    assert_non_null(mkdtemp(ret_folder));
}

static inline int scratch_remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

static inline void scratch_free(const char *folder)
{
    (void)nftw(folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_write(const char *folder, const char *name, const char *text)
{
    char path[4 * SCRATCH_SIZE];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Text to free(), or NULL where the file is not there. */
static inline char *scratch_read(const char *folder, const char *name)
{
    char path[4 * SCRATCH_SIZE];
    size_t room = 1 << 20;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    char *text = calloc(1, room);
    assert_non_null(text);
    assert_true(fread(text, 1, room, file) < room);
    (void)fclose(file);
    return text;
}

#endif

/* series_file.c -- files of recorded blocks: what is in one already is never touched. */
#include "selfcheck/series.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_lines(FILE *file, const char *path, struct kg_series_set *set, kg_error *ret_error)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int status = KG_OK;
    for (int number = 1; !status && (length = getline(&line, &room, file)) >= 0; number++) {
        struct kg_series series;
        kg_error why = { 0 };
        if (length && line[length - 1] == '\n')
            length--;
        status = kg_series_parse(line, (size_t)length, &series, &why);
        if (!status && kg_series_set_has(set, &series)) {
            /* Twice, its gates would be called independent, and judged by themselves as another start's. */
            status = kg_fail(&why, KG_EINVAL, "%.120s of %.60s is given twice", series.key, series.start);
            free(series.blocks);
        }
        if (status)
            (void)kg_fail(ret_error, status, "%s: line %d: %.200s", path, number, why.text);
        else if ((status = kg_series_set_add(set, &series, ret_error)))
            free(series.blocks);
    }
    free(line);
    if (!status && ferror(file))
        status = kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
    return status;
}

int kg_series_read(const char *path, struct kg_series_set *set, kg_error *ret_error)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return kg_fail(ret_error, errno == ENOENT ? KG_ENOTFOUND : KG_EIO, "%s: %s", path, strerror(errno));
    int status = read_lines(file, path, set, ret_error);
    (void)fclose(file);
    return status;
}

/* What stands in the file already must end in a line's end, or the first new line would be lost in it. */
static bool ends_whole(int file, off_t size)
{
    char last = 0;
    return size == 0 || (pread(file, &last, 1, size - 1) == 1 && last == '\n');
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length) {
        ssize_t wrote = write(file, text, length);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            text += wrote;
            length -= (size_t)wrote;
        }
    }
    return true;
}

static int append_text(const char *path, const char *text, size_t length, kg_error *ret_error)
{
    struct stat before;
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666), status = KG_OK;
    if (file < 0)
        return kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
    if (fstat(file, &before) || !S_ISREG(before.st_mode)) {
        status = kg_fail(ret_error, KG_EIO, "%s: not a file", path);
    } else if (!ends_whole(file, before.st_size)) {
        status = kg_fail(ret_error, KG_EINVAL, "%s: its last line is cut; remove it first", path);
    } else if (!write_all(file, text, length) || fsync(file)) {
        status = kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
        (void)!ftruncate(file, before.st_size);
    }
    (void)close(file);
    return status;
}

int kg_series_append(const char *path, const struct kg_series_set *set, kg_error *ret_error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    int status = memory ? KG_OK : kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
    for (size_t i = 0; i < set->count && !status; i++) {
        if (!set->items[i].n_blocks)
            continue;
        char *line = kg_series_format(&set->items[i]);
        if (!line || fputs(line, memory) < 0)
            status = kg_fail(ret_error, KG_EINVAL, "%.300s: blocks cannot be written", set->items[i].key);
        free(line);
    }
    if (memory && fclose(memory) && !status)
        status = kg_fail(ret_error, KG_ENOMEM, "out of memory for recorded blocks");
    if (!status)
        status = append_text(path, text, length, ret_error);
    free(text);
    return status;
}

/* file.c -- what is read is never half written. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE_BYTES ((size_t)64 << 20)

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* 0, or an errno: the stream's. What `write` says is `ret_status`. The descriptor stays open. */
static int write_stream(int descriptor, kg_write_fn *write, const void *what, int *ret_status, kg_error *ret_error)
{
    int copy = dup(descriptor), failure = 0;
    FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
    if (!file) {
        failure = errno;
        (void)close(copy);
        return failure;
    }
    errno = 0;
    *ret_status = write(file, what, ret_error);
    if (ferror(file) || fflush(file) || (fsync(copy) && errno != EINVAL)) /* EINVAL: a pipe */
        failure = errno ? errno : EIO;
    if (fclose(file) && !failure)
        failure = errno;
    return failure;
}

/* Its name is the same for all, so that what a killed writer left is written over. Who comes second waits for the
 * lock, and begins anew where the first has renamed the file meanwhile. */
static int open_temporary(const char *path)
{
    for (int tries = 0; tries < 1000; tries++) {
        struct stat opened, named;
        int file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (file < 0)
            return -1;
        while (flock(file, LOCK_EX) && errno == EINTR)
            ;
        if (!fstat(file, &opened) && !stat(path, &named) && opened.st_ino == named.st_ino && !ftruncate(file, 0))
            return file;
        (void)close(file);
    }
    errno = EBUSY;
    return -1;
}

static int sync_folder(const char *folder)
{
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failure = 0;
    if (descriptor < 0)
        return errno;
    if (fsync(descriptor) < 0 && errno != EINVAL) /* EINVAL: a file system that cannot */
        failure = errno;
    (void)close(descriptor);
    return failure;
}

/* 0, or an errno. */
static int replace(const char *path, kg_write_fn *write, const void *what, int *ret_status, kg_error *ret_error)
{
    char folder[PATH_MAX], temporary[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(name - path) : 2, slash ? path : "./") >= PATH_MAX ||
        snprintf(temporary, sizeof temporary, "%s.%.*s.new", folder, stem, name) >= PATH_MAX)
        return ENAMETOOLONG;
    int file = open_temporary(temporary);
    if (file < 0)
        return errno;
    int failure = write_stream(file, write, what, ret_status, ret_error);
    if (!failure && !*ret_status && rename(temporary, path))
        failure = errno;
    if (failure || *ret_status)
        (void)unlink(temporary);
    (void)close(file); /* not before: it holds the lock */
    return failure || *ret_status ? failure : sync_folder(folder);
}

static int write_through(const char *path, kg_write_fn *write, const void *what, int *ret_status, kg_error *ret_error)
{
    int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return errno;
    int failure = write_stream(file, write, what, ret_status, ret_error);
    (void)close(file);
    return failure;
}

int kg_file_replace(const char *path, kg_write_fn *write, const void *what, kg_error *ret_error)
{
    struct stat is;
    int failure, status = KG_OK;
    if (!stat(path, &is) && !S_ISREG(is.st_mode)) {
        failure = write_through(path, write, what, &status, ret_error);
    } else {
        char *target = realpath(path, NULL); /* the file behind a link; NULL where there is none yet */
        failure = replace(target ? target : path, write, what, &status, ret_error);
        free(target);
    }
    return failure ? kg_fail(ret_error, KG_EIO, "%.300s cannot be written: %s", path, strerror(failure)) : status;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

/* 0, or an errno. */
static int read_all(int file, char **ret_text, size_t *ret_length)
{
    char *text = NULL;
    size_t length = 0, room = 0;
    ssize_t got = 0;
    int failure = 0;
    do {
        length += (size_t)got;
        if (length + 1 >= room) { /* with room for the NUL */
            room = room ? room * 2 : 16384;
            char *grown = room <= MAX_FILE_BYTES ? realloc(text, room) : NULL;
            if (!grown) {
                failure = room <= MAX_FILE_BYTES ? ENOMEM : EFBIG;
                break;
            }
            text = grown;
        }
        got = read(file, text + length, room - length - 1);
        failure = got < 0 ? errno : 0;
    } while (got > 0);
    if (failure) {
        free(text);
        return failure;
    }
    text[length] = '\0';
    *ret_text = text;
    *ret_length = length;
    return 0;
}

int kg_file_read(const char *path, char **ret_text, size_t *ret_length, kg_error *ret_error)
{
    struct stat info;
    int status = KG_OK, failure = 0;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* before it is looked at: its kind cannot change */
    if (file < 0)
        return kg_fail(ret_error, errno == ENOENT ? KG_ENOTFOUND : KG_EIO, "%s: %s", path, strerror(errno));
    if (!fstat(file, &info) && !S_ISREG(info.st_mode))
        status = kg_fail(ret_error, KG_EINVAL, "%s: not a regular file", path);
    else if ((failure = read_all(file, ret_text, ret_length)))
        status = kg_fail(ret_error, failure == ENOMEM ? KG_ENOMEM : KG_EIO, "%s: %s", path, strerror(failure));
    (void)close(file);
    return status;
}

/* ---- copying --------------------------------------------------------------------------------------------------- */

bool kg_file_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int copy_bytes(int in, int out)
{
    char buffer[65536];
    ssize_t got = 0;
    while ((got = read(in, buffer, sizeof buffer)) > 0)
        for (ssize_t done = 0, wrote = 0; done < got; done += wrote)
            if ((wrote = write(out, buffer + done, (size_t)(got - done))) <= 0)
                return -1;
    return got < 0 ? -1 : 0;
}

int kg_file_copy(const char *from, const char *to, kg_error *ret_error)
{
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    bool copied = out >= 0 && copy_bytes(in, out) == 0;
    int cause = errno;
    if (in >= 0)
        (void)close(in);
    if (out >= 0 && close(out) && copied) {
        copied = false;
        cause = errno;
    }
    if (copied)
        return KG_OK;
    if (out >= 0)
        (void)unlink(to);
    return kg_fail(ret_error, KG_EIO, "cannot copy %.150s to %.150s: %s", from, to, strerror(cause));
}

/* ---- folders --------------------------------------------------------------------------------------------------- */

bool kg_folder_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Another process may make it meanwhile; a file of its name is none. */
int kg_folder_make_one(const char *path, kg_error *ret_error)
{
    if (kg_folder_exists(path) || mkdir(path, 0777) == 0)
        return KG_OK;
    const int failure = errno == EEXIST ? ENOTDIR : errno;
    if (failure == ENOTDIR && kg_folder_exists(path))
        return KG_OK;
    return kg_fail(ret_error, KG_EIO, "cannot make folder %s: %s", path, strerror(failure));
}

int kg_folder_make(const char *path, kg_error *ret_error)
{
    char part[PATH_MAX];
    size_t end = 0;
    int status;
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return kg_fail(ret_error, KG_EINVAL, "%.200s…: path too long", path);
    do {
        part[end] = path[end];
        end += strspn(path + end, "/");
        end += strcspn(path + end, "/");
        part[end] = '\0';
        status = kg_folder_make_one(part, ret_error);
    } while (!status && path[end]);
    return status;
}

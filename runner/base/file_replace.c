/* file_replace.c -- what is read is never half written, and what is changed is read under a lock. */
#include "base/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/module.h"

static int make_folder(const char *folder, kg_error *ret_error)
{
    if (mkdir(folder, 0777) < 0 && errno != EEXIST)
        return kg_fail(ret_error, KG_EIO, "%s: %s", folder, strerror(errno));
    return 0;
}

int kg_folder_lock(const char *folder, int *ret_lock, kg_error *ret_error)
{
    char path[4096];
    int status = make_folder(folder, ret_error);
    if (status < 0)
        return status;
    if (snprintf(path, sizeof path, "%s/.lock", folder) >= (int)sizeof path)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: the path is too long", folder);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0)
        return kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
    if (flock(lock, LOCK_EX) < 0) {
        status = kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
        (void)close(lock);
        return status;
    }
    *ret_lock = lock;
    return 0;
}

void kg_folder_unlock(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

/* 0, or an errno. The file is closed in any case. */
static int write_and_close(int descriptor, kg_write_fn *write, const void *what)
{
    FILE *file = fdopen(descriptor, "w");
    if (!file) {
        int failure = errno;
        (void)close(descriptor);
        return failure;
    }
    int failure = 0;
    errno = EIO; /* should a library fail without a reason */
    if (!write(file, what) || fflush(file) != 0 || fsync(descriptor) < 0)
        failure = errno;
    if (fclose(file) != 0 && !failure)
        failure = errno;
    return failure;
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

int kg_file_replace(const char *folder, const char *name, kg_write_fn *write, const void *what, kg_error *ret_error)
{
    /* One name, under the lock: what a killed writer left is overwritten. The dot hides it from who lists the folder.
     */
    char path[KG_PATH_SIZE], temporary[KG_PATH_SIZE];
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot ? (size_t)(dot - name) : strlen(name));
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        snprintf(temporary, sizeof temporary, "%s/.%.*s.new", folder, stem, name) >= (int)sizeof temporary)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: the path is too long", folder);
    int status = make_folder(folder, ret_error);
    if (status < 0)
        return status;
    int descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return kg_fail(ret_error, KG_EIO, "%s: %s", temporary, strerror(errno));
    int failure = write_and_close(descriptor, write, what);
    if (!failure && rename(temporary, path) < 0)
        failure = errno;
    if (failure) {
        (void)unlink(temporary);
        return kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(failure));
    }
    failure = sync_folder(folder);
    return failure ? kg_fail(ret_error, KG_EIO, "%s: %s", folder, strerror(failure)) : KG_OK;
}

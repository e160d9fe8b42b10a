/* module_copy.c -- copies a module's file, so that two instances of one build can be loaded side by side. */
#include "plan/module_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool kg_module_same_file(const char *a, const char *b)
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

int kg_module_copy(const char *from, const char *to, kg_error *ret_error)
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

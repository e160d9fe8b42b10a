/* lock.c -- a lock file a device, with the holder's pid in it for those who wait. */
#include "base/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* A command that measures twice would wait for itself. */
static char held[160];

int kg_lock_device(const char *uuid, void (*waiting)(const char *holder), kg_error *ret_error)
{
    char path[sizeof held], holder[32] = "";
    int used = snprintf(path, sizeof path, "%s/kgate-", P_tmpdir);
    for (const char *c = uuid; *c && (size_t)used < sizeof path - 8; c++)
        path[used++] = isalnum((unsigned char)*c) ? *c : '_';
    snprintf(path + used, sizeof path - (size_t)used, ".lock");
    if (!strcmp(path, held))
        return KG_OK;
    mode_t mask = umask(0); /* another user's run must be able to wait for it */
    /* Without O_CREAT first: of another user's file in a sticky folder it is refused (fs.protected_regular). */
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT)
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    umask(mask);
    if (file < 0)
        return kg_fail(ret_error, KG_EIO, "cannot open the device's lock %s: %s", path, strerror(errno));
    if (flock(file, LOCK_EX | LOCK_NB)) {
        ssize_t got = read(file, holder, sizeof holder - 1);
        holder[got > 0 ? got : 0] = '\0';
        if (waiting)
            waiting(holder);
        while (flock(file, LOCK_EX))
            if (errno != EINTR)
                return kg_fail(ret_error, KG_EIO, "cannot lock %s: %s", path, strerror(errno));
    }
    int length = snprintf(holder, sizeof holder, "%ld", (long)getpid());
    if (ftruncate(file, 0) || pwrite(file, holder, (size_t)length, 0) != length)
        return kg_fail(ret_error, KG_EIO, "cannot write %s: %s", path, strerror(errno));
    memcpy(held, path, sizeof path);
    return KG_OK; /* the descriptor stays open: it is the lock */
}

/* lock.c -- locks by flock, so that a process that died holds none. A device's lock file says who holds it. */
#include "base/lock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

/* ---- a folder -------------------------------------------------------------------------------------------------- */

int kg_folder_lock(const char *folder, int *ret_lock, kg_error *ret_error)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.lock", folder) >= (int)sizeof path)
        return kg_fail(ret_error, KG_EINVAL, "%.80s: the path is too long", folder);
    int status = kg_folder_make_one(folder, ret_error);
    if (status)
        return status;
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX)) {
        status = kg_fail(ret_error, KG_EIO, "%s: %s", path, strerror(errno));
        kg_folder_unlock(lock);
        return status;
    }
    *ret_lock = lock;
    return KG_OK;
}

void kg_folder_unlock(int lock)
{
    if (lock >= 0)
        (void)close(lock);
}

int kg_changes_begin(const char *folder, struct kg_changes *ret_changes, kg_error *ret_error)
{
    int lock = -1, status = kg_folder_lock(folder, &lock, ret_error);
    if (status)
        return status;
    *ret_changes = (struct kg_changes){ .lock = lock };
    ret_changes->lines = open_memstream(&ret_changes->text, &ret_changes->length);
    if (ret_changes->lines)
        return KG_OK;
    kg_folder_unlock(lock);
    return kg_fail(ret_error, KG_ENOMEM, "out of memory for what changes");
}

bool kg_changes_end(struct kg_changes *changes, int status, FILE *out)
{
    kg_folder_unlock(changes->lock);
    (void)fclose(changes->lines);
    bool any = changes->length > 0;
    if (!status && any)
        fputs(changes->text, out);
    free(changes->text);
    return any;
}

/* ---- a device -------------------------------------------------------------------------------------------------- */

/* A command that measures twice would wait for itself. */
static char held[160];

/* One line of the file: what another user wrote may be anything. */
static void read_line(int file, char *ret_text, size_t size)
{
    ssize_t got = pread(file, ret_text, size - 1, 0);
    size_t length = got > 0 ? (size_t)got : 0;
    for (size_t i = 0; i < length; i++)
        if (iscntrl((unsigned char)ret_text[i]))
            ret_text[i] = ' ';
    while (length && ret_text[length - 1] == ' ')
        length--;
    ret_text[length] = '\0';
}

/* "123: kgate run attention_matrix" */
static bool write_holder(int file)
{
    char command[400] = "", text[140];
    int self = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (self >= 0) {
        read_line(self, command, sizeof command);
        (void)close(self);
    }
    const char *name = command; /* of the program, without its folder */
    for (const char *c = command; *c && *c != ' '; c++)
        name = *c == '/' ? c + 1 : name;
    int length = snprintf(text, sizeof text, "%ld: %.100s", (long)getpid(), name);
    return !ftruncate(file, 0) && pwrite(file, text, (size_t)length, 0) == length;
}

struct wait {
    int file;
    kg_waiting_fn *waiting;
    atomic_bool over;
};

static void *tell(void *user)
{
    struct wait *wait = user;
    const struct timespec pause = { .tv_nsec = 20000000 };
    const double begin_s = kg_now_s();
    double waited_s = 0, next_s = 0;
    while (!wait->over) {
        if (waited_s >= next_s) {
            char holder[140];
            read_line(wait->file, holder, sizeof holder);
            wait->waiting(holder, waited_s);
            next_s = next_s > 0 ? 2 * next_s : 10;
        }
        (void)nanosleep(&pause, NULL);
        waited_s = kg_now_s() - begin_s;
    }
    return NULL;
}

/* Returns 0, or an errno. The kernel keeps those that wait in their order, so who asked again and again would come
 * last; a thread tells meanwhile. */
static int wait_for(int file, kg_waiting_fn *waiting)
{
    struct wait wait = { .file = file, .waiting = waiting };
    pthread_t teller;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        return 0;
    bool told = pthread_create(&teller, NULL, tell, &wait) == 0;
    int failure;
    do
        failure = flock(file, LOCK_EX) ? errno : 0;
    while (failure == EINTR);
    wait.over = true;
    if (told)
        (void)pthread_join(teller, NULL);
    return failure;
}

int kg_lock_device(const char *uuid, kg_waiting_fn *waiting, kg_error *ret_error)
{
    char path[sizeof held];
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
    int failure = wait_for(file, waiting);
    if (failure || !write_holder(file)) {
        failure = failure ? failure : errno;
        (void)close(file);
        return kg_fail(ret_error, KG_EIO, "cannot lock %s: %s", path, strerror(failure));
    }
    memcpy(held, path, sizeof path);
    return KG_OK; /* the descriptor stays open: it is the lock */
}

/* apart.c -- the process forks once more for each question, so that no answer hangs on the ones before. dlmopen would
 * not do: the second libc's thread-specific data lies in the same slots of a thread as the first's. */
#include "measure/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/socket.h"

enum { ANSWERED = 113 }; /* exit status: a function may exit too */

struct question {
    kg_apart_fn *function;
    size_t size;
};

struct answer {
    int status;
    kg_error error;
    size_t size;
};

/* Of `size` bytes to free(). */
static void *read_bytes(int file, size_t size)
{
    void *bytes = malloc(size + 1);
    if (bytes && kg_socket_receive(file, bytes, size, 0))
        return bytes;
    free(bytes);
    return NULL;
}

/* ---- there ----------------------------------------------------------------------------------------------------- */

static bool reply(const kg_host *host, int file, const struct question *question, const void *asked)
{
    struct answer answer = { 0 };
    void *bytes = NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    answer.status = question->function(host, asked, question->size, &bytes, &answer.size, &answer.error);
    if (answer.status)
        answer.size = 0;
    return kg_socket_send(file, &answer, sizeof answer) && kg_socket_send(file, bytes, answer.size);
}

/* Whoever asks waits: one question at a time. */
static void answer_in_a_fork(const kg_host *host, int file, const struct question *question, const void *asked)
{
    struct answer none = { .status = KG_EDEVICE };
    int status = -1;
    const pid_t pid = fork();
    if (pid == 0)
        _exit(reply(host, file, question, asked) ? ANSWERED : 0);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == ANSWERED)
        return;
    if (pid > 0 && WIFSIGNALED(status))
        (void)kg_fail(&none.error, KG_EDEVICE, "the process asked apart ended by signal %d", WTERMSIG(status));
    else
        (void)kg_fail(&none.error, KG_EDEVICE, "the process asked apart ended without an answer");
    (void)kg_socket_send(file, &none, sizeof none);
}

static void serve(const kg_host *host, int file)
{
    struct question question;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (kg_socket_receive(file, &question, sizeof question, 0)) {
        void *asked = read_bytes(file, question.size);
        if (!asked)
            return;
        answer_in_a_fork(host, file, &question, asked);
        free(asked);
    }
}

/* ---- here ------------------------------------------------------------------------------------------------------ */

int kg_apart_start(const kg_host *host, struct kg_apart *ret_apart, kg_error *ret_error)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return kg_fail(ret_error, KG_EIO, "no socket to ask apart: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]); /* nothing else: what a tool has put into the process may need its own */
        serve(host, ends[1]);
        _exit(0);
    }
    const int why = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return kg_fail(ret_error, KG_ENOMEM, "no process to ask apart: %s", strerror(why));
    }
    *ret_apart = (struct kg_apart){ .socket = ends[0], .pid = pid };
    return KG_OK;
}

void kg_apart_end(struct kg_apart *apart)
{
    if (apart->socket < 0)
        return;
    close(apart->socket);
    kill(apart->pid, SIGKILL); /* a child that the module left behind holds the socket open */
    while (waitpid(apart->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    *apart = (struct kg_apart){ .socket = -1 };
}

int kg_apart_ask(const struct kg_apart *apart, kg_apart_fn *function, const void *asked, size_t size, void **ret_answer,
                 size_t *ret_size, kg_error *ret_error)
{
    const struct question question = { function, size };
    struct answer answer;
    if (apart->socket < 0)
        return kg_fail(ret_error, KG_EUNSUPPORTED, "this process has none to ask apart");
    if (!kg_socket_send(apart->socket, &question, sizeof question) || !kg_socket_send(apart->socket, asked, size) ||
        !kg_socket_receive(apart->socket, &answer, sizeof answer, 0))
        return kg_fail(ret_error, KG_EDEVICE, "the process to ask apart is gone");
    if (answer.status)
        return kg_fail(ret_error, answer.status, "%s", answer.error.text);
    *ret_answer = read_bytes(apart->socket, answer.size);
    if (!*ret_answer)
        return kg_fail(ret_error, KG_EDEVICE, "the process asked apart ended within its answer");
    *ret_size = answer.size;
    return KG_OK;
}

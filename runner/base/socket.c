/* socket.c -- bytes through a socket between two processes. */
#include "base/socket.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"

bool kg_socket_send(int socket, const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t sent = send(socket, (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool is_there_by(int socket, double deadline_s)
{
    struct pollfd look = { .fd = socket, .events = POLLIN };
    int ready = 0;
    while (ready <= 0) {
        const double left_ms = 1e3 * (deadline_s - kg_now_s());
        if (deadline_s > 0 && left_ms <= 0)
            return false;
        ready = poll(&look, 1, deadline_s > 0 ? (int)ceil(fmin(left_ms, 1e6)) : -1);
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return true;
}

bool kg_socket_receive(int socket, void *ret_data, size_t bytes, double deadline_s)
{
    for (size_t done = 0; done < bytes;) {
        if (!is_there_by(socket, deadline_s))
            return false;
        const ssize_t got = recv(socket, (char *)ret_data + done, bytes - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* socket.h -- bytes through a socket between two processes, all of them or none. */
#ifndef KG_SOCKET_H
#define KG_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

/* Whatever interrupts; false: the other end is gone, or by `deadline_s` (kg_now_s; 0: none) has not said anything. */
bool kg_socket_send(int socket, const void *data, size_t bytes);
bool kg_socket_receive(int socket, void *ret_data, size_t bytes, double deadline_s);

#endif

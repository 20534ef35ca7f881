/* SPDX-License-Identifier: GPL-2.0-only */
/* The system calls of a connection: its network namespace, its options, its counters. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include "../../common/tcp_state.h"
#include "trial.h"

/* Enters the namespace in file `netns`; `pair` is for the error message. */
void sockets_enter(const char *netns, uint32_t pair);

/* Opens every connection in its client's namespace and waits until all are established; stays in
 * the last namespace (harmless: sockets keep theirs). */
void sockets_connect_all(struct trial *trial, int64_t timeout_ns);

/* Tells the kernel how many unread bytes wake the program; only notes the call. */
void sockets_note_low_water(struct calls *calls, struct connection *connection, int bytes);

/* TCP_INFO of the client's end. */
void sockets_state(const struct connection *connection, struct tcp_state *state);

/* TCP_INFO of the client's end, and the bytes that lay unread just then. */
uint64_t sockets_unread(const struct connection *connection, struct tcp_state *state);

/* The receive buffer, and the largest window that may ever be advertised [bytes]. This is the
 * smaller of the kernel's clamp (6.12 forgets the clamp of the route with the first segment and
 * uses the buffer's size) and the largest value of the header's 16 bits with the negotiated scale.
 * */
void sockets_room(const struct connection *connection, int *buffer_bytes, int *window_bytes);

#endif

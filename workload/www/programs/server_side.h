/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the server's end of each connection from the kernel by sock_diag (no `ss` per host). */
#ifndef SERVER_SIDE_H
#define SERVER_SIDE_H

#include "trial.h"

/* Opens one netlink socket in each server's namespace (-1 if none is named). Call this before the
 * trial, so that the readings at its end take almost no time. */
int *server_side_open(const struct trial *trial);

/* Fills in at_server of every connection that has a socket in `netlinks`. */
void server_side_read(struct trial *trial, const int *netlinks);

#endif

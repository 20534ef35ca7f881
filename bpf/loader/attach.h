/* SPDX-License-Identifier: GPL-2.0-only */
/* attach.h - the programs on their devices, in any network namespace */
#ifndef CELLQ_ATTACH_H
#define CELLQ_ATTACH_H

#include "../cellq.h"
#include "tc.h"

/* Attach a program at the egress (or ingress) of `dev` in the network namespace
 * of `pid` (0: the current one) and store the attachment in *done. The index of
 * the device must be within [min, max]. Returns STATUS_OK, or prints one line
 * and returns another status; then nothing remains attached. */
int attach(const struct tc_program *program, __u32 pid, const char *dev, __u32 min, __u32 max,
	   int ingress, struct cellq_attachment *done);

/* Undo attachments by their recorded ids; those whose namespace, device or
 * filter is gone, or no longer ours, are skipped. */
int detach_all(int attachments_fd);

#endif /* CELLQ_ATTACH_H */

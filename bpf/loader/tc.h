/* SPDX-License-Identifier: GPL-2.0-only */
/* tc.h - traffic control over rtnetlink, with few system calls: in some labs each is dear */
#ifndef CELLQ_TC_H
#define CELLQ_TC_H

#include "../cellq.h"

/* A loaded program, by its descriptor and by the name that tc shows. */
struct tc_program {
	int fd;
	char name[64];
};

/* All return 0 or a negative error number. `sock` is of NETLINK_ROUTE. */
int tc_open(void);

/* Create clsact if the device has neither clsact nor ingress, and the program's filter in it. On
 * entry *a has ifindex, ingress and the priority (0: the kernel chooses it). *failed says what the
 * kernel refused. */
int tc_attach(int sock, const struct tc_program *program, struct cellq_attachment *a,
	      const char **failed);

/* Remove the filter, and clsact if the attachment made it; not if the filter is no longer ours. */
int tc_detach(int sock, const struct cellq_attachment *a);

#endif /* CELLQ_TC_H */

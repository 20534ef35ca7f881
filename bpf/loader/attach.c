// SPDX-License-Identifier: GPL-2.0-only
/* attach.c - the programs on their devices, in any network namespace */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "attach.h"
#include "cli.h"

/* Open the network namespace of a process, or our own; *ino identifies it. */
static int namespace_of(__u32 pid, __u64 *ino)
{
	char path[64] = "/proc/self/ns/net";
	struct stat st;
	int file;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &st))
		return -1;
	*ino = st.st_ino;
	return file;
}

/* A socket in the network namespace of a process (0: in our own); a socket stays in its namespace.
 * *ino identifies the namespace. Returns -1 or less after an error. */
static int socket_in(__u32 pid, __u64 *ino)
{
	static int home = -1;
	__u64 own;
	int there, sock;

	if (home < 0)
		home = namespace_of(0, &own);
	there = namespace_of(pid, ino);
	if (home < 0 || there < 0)
		return -1;
	if (pid && setns(there, CLONE_NEWNET))
		return -1;
	close(there);
	sock = tc_open();
	/* In the wrong one, all later steps would be wrong. */
	if (pid && setns(home, CLONE_NEWNET))
		exit(fail(STATUS_FAILED, "cannot return to the network namespace:"
			  " %s", strerror(errno)));
	return sock;
}

static __u32 index_of(int sock, const char *dev)
{
	struct ifreq request = {};

	strncpy(request.ifr_name, dev, sizeof(request.ifr_name) - 1);
	return ioctl(sock, SIOCGIFINDEX, &request) ? 0 : request.ifr_ifindex;
}

static int attach_here(int sock, const struct tc_program *program, const char *dev,
		       struct cellq_attachment *done)
{
	const char *failed;
	int error;

	/* An existing filter may take the packet away, so attach before it. */
	if (done->ingress)
		done->priority = 1;
	error = tc_attach(sock, program, done, &failed);
	return error ? fail(STATUS_FAILED, "cannot %s %s: %s", failed, dev, strerror(-error)) :
		       STATUS_OK;
}

int attach(const struct tc_program *program, __u32 pid, const char *dev, __u32 min, __u32 max,
	   int ingress, struct cellq_attachment *done)
{
	int sock, status;

	memset(done, 0, sizeof(*done));
	done->pid = pid;
	done->ingress = ingress;
	sock = socket_in(pid, &done->netns_ino);
	if (sock < 0)
		return fail(STATUS_FAILED, "cannot enter the network namespace of"
			    " process %u: %s", pid, strerror(errno));
	done->ifindex = index_of(sock, dev);
	if (!done->ifindex)
		status = fail(STATUS_FAILED, "process %u has no device %s", pid,
			      dev);
	else if (done->ifindex < min || done->ifindex > max)
		status = fail(STATUS_USAGE, "process %u, device %s: the interface"
			      " index is %u, but must be %u to %u"
			      " (--ifindex-base, --vcs)", pid, dev, done->ifindex, min, max);
	else
		status = attach_here(sock, program, dev, done);
	close(sock);
	return status;
}

int detach_all(int attachments_fd)
{
	struct cellq_attachment done;
	__u64 ino;
	__u32 i;
	int sock;

	for (i = 0; i < CELLQ_MAX_ATTACHMENTS; i++) {
		if (bpf_map_lookup_elem(attachments_fd, &i, &done))
			return fail(STATUS_FAILED, "cannot read the attachments:"
				    " %s", strerror(errno));
		if (!done.prog_id)
			break;
		sock = socket_in(done.pid, &ino);
		if (sock < 0)
			continue;
		if (ino == done.netns_ino)
			tc_detach(sock, &done);
		close(sock);
	}
	return STATUS_OK;
}

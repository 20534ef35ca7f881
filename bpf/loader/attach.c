// SPDX-License-Identifier: GPL-2.0-only
/* attach.c - the programs on their devices, in any network namespace */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach.h"
#include "cli.h"

/* Step into a process's network namespace; *ino identifies it. Returns a
 * descriptor of the namespace left behind, or -1. */
static int enter(__u32 pid, __u64 *ino)
{
	struct stat st;
	char path[64];
	int home, there;

	snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	there = pid ? open(path, O_RDONLY | O_CLOEXEC) : dup(home);
	if (home < 0 || there < 0 || fstat(there, &st) ||
	    (pid && setns(there, CLONE_NEWNET))) {
		close(home);
		close(there);
		return -1;
	}
	*ino = st.st_ino;
	close(there);
	return home;
}

/* Return to the old namespace. In the wrong one, all later steps would be wrong. */
static void leave(int home)
{
	if (setns(home, CLONE_NEWNET))
		exit(fail(STATUS_FAILED, "cannot return to the network namespace:"
			  " %s", strerror(errno)));
	close(home);
}

static enum bpf_tc_attach_point attach_point(const struct cellq_attachment *a)
{
	return a->ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS;
}

static int attach_here(int prog_fd, const char *dev,
		       struct cellq_attachment *done)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = done->ifindex,
			    .attach_point = attach_point(done));
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd);
	int error = bpf_tc_hook_create(&hook);

	/* An existing filter may take the packet away, so attach before it. */
	if (done->ingress)
		opts.priority = 1;
	if (error && error != -EEXIST)
		return fail(STATUS_FAILED, "cannot create clsact on %s: %s", dev,
			    strerror(-error));
	done->made_clsact = !error;
	error = bpf_tc_attach(&hook, &opts);
	if (error) {
		hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
		if (done->made_clsact)
			bpf_tc_hook_destroy(&hook);
		return fail(STATUS_FAILED, "cannot attach to %s: %s", dev,
			    strerror(-error));
	}
	done->handle = opts.handle;
	done->priority = opts.priority;
	done->prog_id = opts.prog_id;
	return STATUS_OK;
}

int attach(int prog_fd, __u32 pid, const char *dev, __u32 min, __u32 max,
	   int ingress, struct cellq_attachment *done)
{
	int home, status;

	memset(done, 0, sizeof(*done));
	done->pid = pid;
	done->ingress = ingress;
	home = enter(pid, &done->netns_ino);
	if (home < 0)
		return fail(STATUS_FAILED, "cannot enter the network namespace of"
			    " process %u: %s", pid, strerror(errno));
	done->ifindex = if_nametoindex(dev);
	if (!done->ifindex)
		status = fail(STATUS_FAILED, "process %u has no device %s", pid,
			      dev);
	else if (done->ifindex < min || done->ifindex > max)
		status = fail(STATUS_USAGE, "process %u, device %s: the interface"
			      " index is %u, but must be %u to %u"
			      " (--ifindex-base, --vcs)", pid, dev, done->ifindex, min, max);
	else
		status = attach_here(prog_fd, dev, done);
	leave(home);
	return status;
}

static void detach_here(const struct cellq_attachment *done)
{
	DECLARE_LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = done->ifindex,
			    .attach_point = attach_point(done));
	DECLARE_LIBBPF_OPTS(bpf_tc_opts, opts, .handle = done->handle,
			    .priority = done->priority);

	if (bpf_tc_query(&hook, &opts) || opts.prog_id != done->prog_id)
		return;
	opts.prog_id = opts.prog_fd = opts.flags = 0;
	if (bpf_tc_detach(&hook, &opts))
		return;
	hook.attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS;
	if (done->made_clsact)
		bpf_tc_hook_destroy(&hook);
}

int detach_all(int attachments_fd)
{
	struct cellq_attachment done;
	__u64 ino;
	__u32 i;
	int home;

	for (i = 0; i < CELLQ_MAX_ATTACHMENTS; i++) {
		if (bpf_map_lookup_elem(attachments_fd, &i, &done))
			return fail(STATUS_FAILED, "cannot read the attachments:"
				    " %s", strerror(errno));
		if (!done.prog_id)
			break;
		home = enter(done.pid, &ino);
		if (home < 0)
			continue;
		if (ino == done.netns_ino)
			detach_here(&done);
		leave(home);
	}
	return STATUS_OK;
}

// SPDX-License-Identifier: GPL-2.0-only
// For Open vSwitch's daemons, by LD_PRELOAD. At each turn of their loop they ask every socket for a
// connection or for data, although poll() has just said which of them have any. Here, the first
// question after a poll() that found nothing is answered without the kernel. Whatever comes in the
// meantime ends the next poll() at once. Their sockets never wait for data: EAGAIN is the answer that
// the kernel would give. A socket that is not in the list of poll() is not concerned.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

#define MOST 65536

// Of each thread: what its last poll() of a descriptor said.
static _Thread_local bool quiet[MOST];

static int (*real_poll)(struct pollfd *, nfds_t, int);
static int (*real_accept)(int, struct sockaddr *, socklen_t *);
static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_recvmsg)(int, struct msghdr *, int);

__attribute__((constructor)) static void find(void)
{
	real_poll = dlsym(RTLD_NEXT, "poll");
	real_accept = dlsym(RTLD_NEXT, "accept");
	real_recv = dlsym(RTLD_NEXT, "recv");
	real_recvmsg = dlsym(RTLD_NEXT, "recvmsg");
}

static bool nothing_came(int fd)
{
	if (fd < 0 || fd >= MOST || !quiet[fd])
		return false;
	quiet[fd] = false;
	errno = EAGAIN;
	return true;
}

int poll(struct pollfd *of, nfds_t count, int timeout_ms)
{
	int ready = real_poll(of, count, timeout_ms);

	for (nfds_t i = 0; i < count; i++)
		if (of[i].fd >= 0 && of[i].fd < MOST)
			quiet[of[i].fd] = ready >= 0 && of[i].events & POLLIN && !of[i].revents;
	return ready;
}

int accept(int fd, struct sockaddr *from, socklen_t *length)
{
	return nothing_came(fd) ? -1 : real_accept(fd, from, length);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	return nothing_came(fd) ? -1 : real_recv(fd, data, size, flags);
}

// Netlink's. Some of its sockets wait for an answer, without MSG_DONTWAIT.
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return flags & MSG_DONTWAIT && nothing_came(fd) ? -1 : real_recvmsg(fd, message, flags);
}

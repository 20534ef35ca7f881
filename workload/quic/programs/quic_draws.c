/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quic_draws - random numbers and clocks of a QUIC program that depend on its trial alone
 *
 * A program that is started with this library (LD_PRELOAD) has three things in place of the lab's:
 *
 * - All random numbers that the program and its libraries ask for come from a generator that starts
 *   with the text in CELLBED_DRAWS. So connection ids, keys of TLS and GREASE values are the same
 *   in each run, whichever trials the lab ran before.
 * - It has no UDP segmentation offload.
 * - Its clocks count from CELLBED_BEGIN_NS, a moment of the lab's monotonic clock. Then rounding of
 *   times in floating point does not depend on how long the lab has run either.
 *
 * The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), and its seed the FNV-1a hash of
 * the text. No secret depends on it: the program talks to hosts of the lab only.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define FIRST_S 1000LL			/* what the monotonic clock shows at the begin */
#define REAL_FIRST_S 1577836800LL	/* 2020-01-01, as the lab's */

static uint64_t state;
static int64_t begin_ns;
static int (*real_clock_gettime)(clockid_t clock, struct timespec *now);

__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("CELLBED_DRAWS");
	const char *begin = getenv("CELLBED_BEGIN_NS");

	real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	state = 0xcbf29ce484222325;
	for (; text && *text; text++)
		state = (state ^ (unsigned char)*text) * 0x100000001b3;
	begin_ns = begin ? atoll(begin) : 0;
}

static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void fill(void *bytes, size_t size)
{
	unsigned char *to = bytes;
	uint64_t drawn;
	size_t some;

	for (; size; size -= some, to += some) {
		drawn = draw();
		some = size < sizeof(drawn) ? size : sizeof(drawn);
		memcpy(to, &drawn, some);
	}
}

/* The C library's. */

ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	(void)flags;
	fill(bytes, size);
	return size;
}

int getentropy(void *bytes, size_t size)
{
	fill(bytes, size);
	return 0;
}

/* C++'s std::random_device; its own asks the processor. */
unsigned int _ZNSt13random_device9_M_getvalEv(void *self)
{
	(void)self;
	return draw();
}

/* GnuTLS's generator for its users; for itself it asks getrandom() and the clock. */
int gnutls_rnd(int level, void *bytes, size_t size)
{
	(void)level;
	fill(bytes, size);
	return 0;
}

/* OpenSSL's: a RAND_METHOD, for RAND_set_rand_method(). Its own adds the processor's counter. */

static int openssl_bytes(unsigned char *bytes, int size)
{
	fill(bytes, size);
	return 1;
}

static int openssl_status(void)
{
	return 1;
}

const struct {
	int (*seed)(const void *bytes, int size);
	int (*bytes)(unsigned char *bytes, int size);
	void (*cleanup)(void);
	int (*add)(const void *bytes, int size, double entropy);
	int (*pseudorand)(unsigned char *bytes, int size);
	int (*status)(void);
} cellbed_rand_method = {
	.bytes = openssl_bytes,
	.pseudorand = openssl_bytes,
	.status = openssl_status,
};

/* sendmsg() as in a kernel without UDP segmentation offload: the lab's queues count packets. */
ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	struct msghdr *m = (struct msghdr *)message;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_SEGMENT) {
			errno = EIO;
			return -1;
		}
	}
	return syscall(SYS_sendmsg, socket, message, flags);
}

/* Clocks: by the C library's own, which reads the lab's clock without a system call. */

static int64_t monotonic_ns(void)
{
	struct timespec now = { 0 };

	if (!real_clock_gettime)
		start();
	real_clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec - begin_ns;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int64_t ns;

	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
		ns = monotonic_ns() + REAL_FIRST_S * NS_PER_S;
		break;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
		ns = monotonic_ns() + FIRST_S * NS_PER_S;
		break;
	default:
		return real_clock_gettime(clock, now);
	}
	now->tv_sec = ns / NS_PER_S;
	now->tv_nsec = ns % NS_PER_S;
	return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec ns;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ns);
	now->tv_sec = ns.tv_sec;
	now->tv_usec = ns.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *now)
{
	struct timespec ns;

	clock_gettime(CLOCK_REALTIME, &ns);
	if (now)
		*now = ns.tv_sec;
	return ns.tv_sec;
}

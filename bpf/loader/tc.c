// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc.c - traffic control over rtnetlink
 *
 * libbpf's functions open a socket for each request, which takes ten system calls. Here one
 * call sends all requests of a device. Only the last is answered if it succeeds; a refusal is
 * always answered.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tc.h"

#define CLSACT_HANDLE	TC_H_MAKE(TC_H_CLSACT, 0)

enum { CLSACT = 1, FILTER };	/* sequence numbers */

struct request {
	struct nlmsghdr head;
	struct tcmsg tc;
	char attributes[256];
};

/* What a filter is, as the kernel says it. */
struct filter {
	__u32 handle, priority, prog_id;
};

int tc_open(void)
{
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	return sock < 0 ? -errno : sock;
}

static void *end_of(struct request *r)
{
	return (char *)r + NLMSG_ALIGN(r->head.nlmsg_len);
}

static struct rtattr *add(struct request *r, int type, const void *data, size_t size)
{
	struct rtattr *a = end_of(r);

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(a), data, size);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void begin(struct request *r, int type, int flags, __u32 sequence, __u32 ifindex)
{
	memset(r, 0, sizeof(*r));
	r->head.nlmsg_len = NLMSG_LENGTH(sizeof(r->tc));
	r->head.nlmsg_type = type;
	r->head.nlmsg_flags = NLM_F_REQUEST | flags;
	r->head.nlmsg_seq = sequence;
	r->tc.tcm_ifindex = ifindex;
}

static void clsact(struct request *r, int type, int flags, __u32 ifindex)
{
	begin(r, type, flags, CLSACT, ifindex);
	r->tc.tcm_parent = TC_H_CLSACT;
	r->tc.tcm_handle = CLSACT_HANDLE;
	add(r, TCA_KIND, "clsact", sizeof("clsact"));
}

static void filter(struct request *r, int type, int flags, const struct cellq_attachment *a)
{
	begin(r, type, flags, FILTER, a->ifindex);
	r->tc.tcm_parent = TC_H_MAKE(TC_H_CLSACT, a->ingress ? TC_H_MIN_INGRESS :
								 TC_H_MIN_EGRESS);
	r->tc.tcm_handle = a->handle;
	r->tc.tcm_info = TC_H_MAKE(a->priority << 16, htons(ETH_P_ALL));
	add(r, TCA_KIND, "bpf", sizeof("bpf"));
}

static void run_program(struct request *r, const struct tc_program *program)
{
	__u32 fd = program->fd, flags = TCA_BPF_FLAG_ACT_DIRECT;
	struct rtattr *options = add(r, TCA_OPTIONS, NULL, 0);

	add(r, TCA_BPF_FD, &fd, sizeof(fd));
	add(r, TCA_BPF_NAME, program->name, strlen(program->name) + 1);
	add(r, TCA_BPF_FLAGS, &flags, sizeof(flags));
	options->rta_len = (char *)end_of(r) - (char *)options;
}

static int send_all(int sock, struct request *requests, size_t count)
{
	char data[2 * sizeof(struct request)];
	size_t size = 0, i;

	for (i = 0; i < count; i++) {
		memcpy(data + size, &requests[i], requests[i].head.nlmsg_len);
		size += NLMSG_ALIGN(requests[i].head.nlmsg_len);
	}
	return send(sock, data, size, 0) < 0 ? -errno : 0;
}

static __u32 program_of(struct rtattr *options)
{
	struct rtattr *a = RTA_DATA(options);
	int size = RTA_PAYLOAD(options);

	for (; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if (a->rta_type == TCA_BPF_ID)
			return *(__u32 *)RTA_DATA(a);
	return 0;
}

static void read_filter(struct nlmsghdr *head, struct filter *found)
{
	struct tcmsg *tc = NLMSG_DATA(head);
	struct rtattr *a = (void *)((char *)tc + NLMSG_ALIGN(sizeof(*tc)));
	int size = head->nlmsg_len - NLMSG_LENGTH(sizeof(*tc));

	found->handle = tc->tcm_handle;
	found->priority = TC_H_MAJ(tc->tcm_info) >> 16;
	for (; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if ((a->rta_type & NLA_TYPE_MASK) == TCA_OPTIONS)
			found->prog_id = program_of(a);
}

/* Read until the answer to `last`: an error number or 0, or what was asked for. *refused gets the
 * error of an earlier request, and *found the filter that the kernel described. */
static int answer(int sock, __u32 last, int *refused, struct filter *found)
{
	char data[8192] __attribute__((aligned(NLMSG_ALIGNTO)));

	for (;;) {
		ssize_t size = recv(sock, data, sizeof(data), 0);
		struct nlmsghdr *head = (void *)data;

		if (size < 0 && errno != EINTR)
			return -errno;
		for (; size > 0 && NLMSG_OK(head, size); head = NLMSG_NEXT(head, size)) {
			int error = ((struct nlmsgerr *)NLMSG_DATA(head))->error;

			if (head->nlmsg_type == RTM_NEWTFILTER)
				read_filter(head, found);
			else if (head->nlmsg_type != NLMSG_ERROR)
				continue;
			else if (head->nlmsg_seq == last)
				return error;
			else if (refused)
				*refused = error;
		}
	}
}

int tc_attach(int sock, const struct tc_program *program, struct cellq_attachment *a,
	      const char **failed)
{
	struct request both[2];
	struct filter found = {};
	int refused = 0, error;

	clsact(&both[0], RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, a->ifindex);
	filter(&both[1], RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ECHO | NLM_F_ACK, a);
	run_program(&both[1], program);
	*failed = "send to";
	error = send_all(sock, both, 2);
	if (error)
		return error;
	error = answer(sock, FILTER, &refused, &found);
	a->made_clsact = !refused;
	*failed = refused && refused != -EEXIST ? "create clsact on" : "attach to";
	if (error && a->made_clsact) {
		clsact(&both[0], RTM_DELQDISC, NLM_F_ACK, a->ifindex);
		if (!send_all(sock, both, 1))
			answer(sock, CLSACT, NULL, &found);
	}
	if (error)
		return refused && refused != -EEXIST ? refused : error;
	a->handle = found.handle;
	a->priority = found.priority;
	a->prog_id = found.prog_id;
	return 0;
}

int tc_detach(int sock, const struct cellq_attachment *a)
{
	struct request r;
	struct filter found = {};
	int error;

	filter(&r, RTM_GETTFILTER, NLM_F_ACK, a);
	error = send_all(sock, &r, 1);
	if (!error)
		error = answer(sock, FILTER, NULL, &found);
	if (error)
		return error;
	if (found.prog_id != a->prog_id)
		return -ENOENT;
	/* With clsact goes its filter. */
	if (a->made_clsact)
		clsact(&r, RTM_DELQDISC, NLM_F_ACK, a->ifindex);
	else
		filter(&r, RTM_DELTFILTER, NLM_F_ACK, a);
	error = send_all(sock, &r, 1);
	return error ? error : answer(sock, a->made_clsact ? CLSACT : FILTER, NULL, &found);
}

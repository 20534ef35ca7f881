// SPDX-License-Identifier: GPL-2.0-only
/* A congestion control in BPF: Linux's reno, which keeps three quarters of the window at a loss. */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define CO_RE __attribute__((preserve_access_index))

struct sock {} CO_RE;
struct tcp_sock {
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
} CO_RE;
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};

extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;
extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;

SEC("struct_ops")
__u32 BPF_PROG(mine_ssthresh, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 kept = tp->snd_cwnd * 3 / 4;

	return kept > 2 ? kept : 2;
}

SEC("struct_ops")
void BPF_PROG(mine_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(mine_undo, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops")
struct tcp_congestion_ops mine = {
	.ssthresh = (void *)mine_ssthresh,
	.cong_avoid = (void *)mine_cong_avoid,
	.undo_cwnd = (void *)mine_undo,
	.name = "bpf_mine",
};

char LICENSE[] SEC("license") = "GPL";

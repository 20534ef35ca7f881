/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat.h - what differs between the BPF and the user-space build of the core
 *
 * cq_can_loop() is true while the call may go on looping. In BPF it is the
 * may_goto instruction (Linux 6.9): the verifier rewrites it in place into a
 * counter of BPF_MAX_LOOPS = 8M per program run, so it needs neither the JIT
 * nor a callback. In user space it is a counter of the same size, which tests
 * can lower.
 */
#ifndef CQ_COMPAT_H
#define CQ_COMPAT_H

#define CQ_INLINE static inline __attribute__((always_inline))
#define CQ_MAX_LOOPS (8 << 20)

/*
 * The verifier follows cq_work() on each way that leads to it. On a moving path
 * cq_work() is long, so there may be no jump in front of it: CQ_HIDE() hides a
 * number's value from the compiler, which would jump by it.
 */
#ifdef CQ_PATH
#define CQ_HIDE(number) asm volatile("" : "+r"(number))
#define cq_choose(first, a, b) ((b) ^ (((a) ^ (b)) & -(first)))
#else
#define CQ_HIDE(number) do { } while (0)
#define cq_choose(first, a, b) ((first) ? (a) : (b))
#endif

#ifdef __bpf__

/* Encoded by hand, since clang before 19 has no mnemonic for it: opcode 0xe5
 * (BPF_JMP | BPF_JCOND), registers 0, 16-bit offset to the exit in
 * instructions, immediate 0. */
#define cq_can_loop()						\
({								\
	__label__ out, end;					\
	int more = 1;						\
	asm volatile goto("1: .byte 0xe5; .byte 0;"		\
		".long ((%l[out] - 1b - 8) / 8) & 0xffff;"	\
		".short 0" : : : : out);			\
	goto end;						\
out:	more = 0;						\
end:	more;							\
})

#define cq_budget_reset() do { } while (0)

#else

static unsigned long cq_budget_limit = CQ_MAX_LOOPS;
static unsigned long cq_budget;

#define cq_can_loop() (cq_budget ? cq_budget--, 1 : 0)
#define cq_budget_reset() (cq_budget = cq_budget_limit)

#endif

#endif /* CQ_COMPAT_H */

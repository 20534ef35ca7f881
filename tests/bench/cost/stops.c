// SPDX-License-Identifier: GPL-2.0-only
/*
 * stops: what one system call of a program in the lab costs the host, four ways.
 *
 *	gcc -O2 -o stops tests/bench/cost/stops.c && ./stops
 *
 * registers  ptrace, all registers out and in again at each stop: User-Mode Linux 6.12
 * general    ptrace, the floating-point ones stay: lab/kernel/patches/0008
 * seccomp    no ptrace; a signal handler and a futex either way: User-Mode Linux 6.16, seccomp=on
 * notified   no ptrace; a listener of seccomp: lab/kernel/patches/0024
 *
 * A process asks, its tracer answers, both on one core. Processor time of the two a call.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS 50000
#define ASKED SYS_getppid

enum way { REGISTERS, GENERAL, SECCOMP, NOTIFIED, WAYS };
static const char *const names[] = { "registers", "general", "seccomp", "notified" };
enum turn { ANSWERED, ASKING };
static volatile int *turn;	/* whose, or which listener: shared by the two */

static void check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "stops: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void wait_for(int wanted)
{
	while (*turn != wanted)
		syscall(SYS_futex, turn, FUTEX_WAIT, !wanted, NULL, NULL, 0);
}

static void give(int next)
{
	*turn = next;
	syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void on_call(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info;
	give(ASKING);
	wait_for(ANSWERED);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

/* Returns the listener, or with another answer 0. */
static int filter_calls(unsigned int flags, unsigned int told)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ASKED, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, told),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	struct sigaction action = { .sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER };
	int listener;

	check(sigaction(SIGSYS, &action, NULL) == 0, "sigaction");
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
	listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	check(listener >= 0, "seccomp");
	return listener;
}

static void ask_for_ever(enum way way)
{
	check(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "pdeathsig");
	if (way == SECCOMP) {
		filter_calls(0, SECCOMP_RET_TRAP);
	} else if (way == NOTIFIED) {
		*turn = filter_calls(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_USER_NOTIF);
	} else {
		check(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0, "traceme");
		raise(SIGSTOP);
	}
	for (;;)
		syscall(ASKED);
}

static void answer_stop(pid_t pid, enum way way, struct user_regs_struct *general, struct iovec *all)
{
	int status;

	check(ptrace(PTRACE_SETREGS, pid, 0, general) == 0, "setregs");
	if (way == REGISTERS)
		check(ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, all) == 0, "setregset");
	check(ptrace(PTRACE_SYSEMU, pid, 0, 0) == 0, "sysemu");
	check(waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status), "wait");
	check(ptrace(PTRACE_GETREGS, pid, 0, general) == 0, "getregs");
	if (way == REGISTERS)
		check(ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, all) == 0, "getregset");
	general->orig_rax = -1;
	general->rax = 0;
}

static void answer_notified(int listener)
{
	struct seccomp_notif call = { 0 };
	struct seccomp_notif_resp result = { 0 };

	check(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0, "receive");
	result.id = call.id;
	check(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &result) == 0, "send");
}

static void answer(pid_t pid, enum way way)
{
	static char room[16384];
	struct user_regs_struct general;
	struct iovec all = { room, sizeof(room) };

	while (way == NOTIFIED && *turn <= 0)
		sched_yield();
	if (way == REGISTERS || way == GENERAL) {
		check(waitpid(pid, NULL, 0) == pid, "wait");
		check(ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD) == 0, "options");
		check(ptrace(PTRACE_GETREGS, pid, 0, &general) == 0, "getregs");
		check(ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &all) == 0, "getregset");
	}
	for (int i = 0; i < CALLS; i++) {
		if (way == SECCOMP) {
			wait_for(ASKING);
			give(ANSWERED);
		} else if (way == NOTIFIED) {
			answer_notified(*turn);
		} else {
			answer_stop(pid, way, &general, &all);
		}
	}
}

static double used_s(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return used.ru_utime.tv_sec + used.ru_stime.tv_sec +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static double microseconds(enum way way)
{
	double before_s = used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN);
	pid_t pid;

	*turn = ANSWERED;
	/* As fork(2), but with one table of files: the listener is the child's. */
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	check(pid >= 0, "fork");
	if (pid == 0)
		ask_for_ever(way);
	answer(pid, way);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) != pid)
		;
	return (used_s(RUSAGE_SELF) + used_s(RUSAGE_CHILDREN) - before_s) / CALLS * 1e6;
}

int main(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	check(sched_setaffinity(0, sizeof(one), &one) == 0, "affinity");
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(turn != MAP_FAILED, "mmap");
	for (enum way way = REGISTERS; way < WAYS; way++)
		printf("%-9s %.2f us\n", names[way], microseconds(way));
	return 0;
}

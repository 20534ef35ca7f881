// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a program sees of its own system calls, signals, threads and faults: a line for each kind.
 *
 * The lab's kernel can hear of a call by seccomp or by ptrace, and a program must see the same.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
#define THREADS 4

static void *pages(int count)
{
	void *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

/* All registers but rax, rcx and r11 are as before a call, and the stack below rsp too. */
static long kept(long number, long a, long b, long c)
{
	uint64_t before[13], after[13], flags, *from = before;
	register uint64_t *to asm("r9") = after;
	long result;

	for (int i = 0; i < 13; i++)
		before[i] = after[i] = 0x0101010101010101ull * (i + 1);
	asm volatile("push %%rbp\n push %%rbx\n push %%r9\n"
		     "mov 8*4(%%rcx), %%r10\n mov 8*5(%%rcx), %%r8\n mov 8*6(%%rcx), %%rbx\n"
		     "mov 8*7(%%rcx), %%rbp\n mov 8*8(%%rcx), %%r12\n mov 8*9(%%rcx), %%r13\n"
		     "mov 8*10(%%rcx), %%r14\n"
		     "std\n mov %%rbx, -64(%%rsp)\n"
		     "syscall\n"
		     "mov -64(%%rsp), %%r15\n pushfq\n pop %%r11\n cld\n pop %%rcx\n"
		     "mov %%r10, 8*4(%%rcx)\n mov %%r8, 8*5(%%rcx)\n mov %%rbx, 8*6(%%rcx)\n"
		     "mov %%rbp, 8*7(%%rcx)\n mov %%r12, 8*8(%%rcx)\n mov %%r13, 8*9(%%rcx)\n"
		     "mov %%r14, 8*10(%%rcx)\n mov %%r15, 8*11(%%rcx)\n mov %%r11, 8*12(%%rcx)\n"
		     "pop %%rbx\n pop %%rbp\n"
		     : "=a"(result), "+c"(from)
		     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(to)
		     : "r8", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
	flags = after[12];
	for (int i = 4; i < 11; i++)
		if (after[i] != before[i])
			printf("register %d of call %ld changed\n", i, number);
	if (after[11] != before[6] || !(flags & 0x400))
		printf("stack or flags of call %ld changed\n", number);
	return result;
}

static void registers(void)
{
	char *at = pages(4);

	memset(at, 1, 4 * PAGE);
	printf("registers: %d", kept(SYS_getppid, 0, 0, 0) == getppid());
	printf(" %ld", kept(SYS_mprotect, (long)at, PAGE, PROT_READ));
	printf(" %ld", kept(SYS_munmap, (long)at, 2 * PAGE, 0));
	printf(" %ld", kept(SYS_madvise, (long)at + 2 * PAGE, PAGE, MADV_DONTNEED));
	printf(" %ld", kept(SYS_read, -1, 0, 0));
	printf(" %ld %ld\n", kept(5000, 1, 2, 3), kept(0x40000000 + SYS_getpid, 0, 0, 0));
}

static long by_32_bit(long number)
{
	long result;

	asm volatile("int $0x80" : "=a"(result) : "0"(number) : "r8", "r9", "r10", "r11", "memory");
	return result;
}

static void *rounds(void *word)
{
	double sum = 0, step = 1.0 / (1 + (intptr_t)word);

	fesetround((intptr_t)word & 1 ? FE_UPWARD : FE_DOWNWARD);
	for (int i = 1; i < 300; i++) {
		sum += step / i;
		if (i % 3)
			sched_yield();
		else
			usleep(1);
	}
	printf("thread %ld: %.17g %d\n", (long)(intptr_t)word, sum, fegetround());
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, rounds, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

static volatile int alarms;
static sigjmp_buf back;
static volatile long said[3];

static void on_alarm(int number, siginfo_t *info, void *context)
{
	volatile double half = 0.5;

	alarms += half * 2;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	said[0] = info->si_code;
	said[1] = (long)info->si_addr;
	said[2] = registers[REG_TRAPNO];
	siglongjmp(back, number);
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags };

	sigaction(number, &action, NULL);
}

static void signals(void)
{
	static char room[65536];
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = { { 0, 0 }, { 0, 0 } };
	int ends[2], got = 0, interrupted = 0;
	volatile double sum = 0;
	char byte;

	sigaltstack(&stack, NULL);
	handle(SIGALRM, on_alarm, SA_ONSTACK);
	if (pipe(ends))
		return;
	setitimer(ITIMER_REAL, &often, NULL);
	while (alarms < 20) {
		if (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			interrupted = 1;
		sum += 1.0 / 3;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	handle(SIGALRM, on_alarm, SA_ONSTACK | SA_RESTART);
	alarms = 0;
	setitimer(ITIMER_REAL, &often, NULL);
	if (!fork()) {
		struct timespec while_it_waits = { 0, 5000000 };

		nanosleep(&while_it_waits, NULL);
		_exit(write(ends[1], "x", 1) != 1);
	}
	got = read(ends[0], &byte, 1);
	setitimer(ITIMER_REAL, &never, NULL);
	wait(NULL);
	printf("signals: %d %d %d\n", interrupted, got, alarms > 1);
}

static int faults_at(volatile char *at, int writes)
{
	int number = sigsetjmp(back, 1);

	if (!number) {
		if (writes)
			*at = 1;
		else
			(void)*at;
	}
	return number;
}

static void faults(void)
{
	char *at = pages(3), *text = (char *)(uintptr_t)faults;
	int number;

	handle(SIGSEGV, on_fault, 0);
	handle(SIGILL, on_fault, 0);
	handle(SIGFPE, on_fault, 0);
	mprotect(at, PAGE, PROT_READ);
	printf("faults: %d %d", faults_at(at, 0), faults_at(at + PAGE, 1));
	number = faults_at(at + 5, 1);
	printf(" | %d %ld %ld %ld", number, said[0], said[1] - (long)at, said[2]);
	mprotect(at, PAGE, PROT_NONE);
	number = faults_at(at + 6, 0);
	printf(" | %d %ld %ld %ld", number, said[0], said[1] - (long)at, said[2]);
	munmap(at + PAGE, PAGE);
	number = faults_at(at + PAGE + 7, 0);
	printf(" | %d %ld %ld", number, said[0], said[1] - (long)at);
	number = faults_at(text, 1);
	printf(" | %d %ld %d", number, said[0], said[1] == (long)text);
	number = sigsetjmp(back, 1);
	if (!number)
		asm volatile("movq $0x123456789abcdef0, %%rax; movq (%%rax), %%rax" : : : "rax");
	printf(" | %d %ld %ld", number, said[0], said[2]);
	number = sigsetjmp(back, 1);
	if (!number)
		asm volatile("ud2");
	printf(" | %d", number);
	number = sigsetjmp(back, 1);
	if (!number)
		asm volatile("xorl %%ecx, %%ecx; divl %%ecx" : : "a"(1), "d"(0) : "ecx");
	printf(" | %d\n", number);
}

/* A deep stack, copies after a fork, and memory that comes back as zeros. */
static int deep(int depth)
{
	volatile char room[3000];

	room[0] = depth;
	return depth ? deep(depth - 1) + room[0] : 0;
}

static void memory(void)
{
	int *at = pages(64), status, sum = 0;
	pid_t pid;

	for (int i = 0; i < 64; i++)
		at[i * 1024] = i;
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 64; i += 2)
			at[i * 1024] = 1000;
		for (int i = 0; i < 64; i++)
			sum += at[i * 1024];
		_exit(sum == 32 * 1000 + 32 * 32 ? 7 : 8);
	}
	waitpid(pid, &status, 0);
	for (int i = 0; i < 64; i++)
		sum += at[i * 1024];
	madvise(at, 64 * PAGE, MADV_DONTNEED);
	printf("memory: %d %d %d %d\n", WEXITSTATUS(status), sum, at[1024], deep(200));
}

static long faults_till_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* A new page that is read has one fault, and another when it is written. A write has one only. */
#define ACCESS(instruction)								\
	do {										\
		volatile char *at = pages(1);						\
		long before = faults_till_now(), between;				\
											\
		asm volatile(instruction : : "D"(at), "a"(1l) : "rcx", "rsi", "xmm0", "memory");\
		between = faults_till_now();						\
		*at = 1;								\
		printf(" %ld%ld", between - before, faults_till_now() - between);	\
	} while (0)

static void accesses(void)
{
	printf("accesses:");
	ACCESS("mov (%%rdi), %%ecx");
	ACCESS("cmpl $1, (%%rdi)");
	ACCESS("movdqu (%%rdi), %%xmm0");
	ACCESS("testb $1, 8(%%rdi)");
	ACCESS("mov %%al, (%%rdi)");
	ACCESS("movq $0, 0x80(%%rdi)");
	ACCESS("addl $1, (%%rdi)");
	ACCESS("lock xadd %%ecx, (%%rdi)");
	ACCESS("movups %%xmm0, (%%rdi)");
	ACCESS("push %%rdi\n mov $100, %%ecx\n rep stosb\n pop %%rdi");
	ACCESS("push %%rdi\n lea 8(%%rsp), %%rsi\n movsq\n pop %%rdi");
	ACCESS("push %%rdi\n mov %%rdi, %%rsi\n lea 8(%%rsp), %%rdi\n lodsb\n pop %%rdi");
	ACCESS("btsl $1, (%%rdi)");
	printf("\n");
}

static void processes(void)
{
	int status;
	pid_t pid = vfork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exit 5", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	printf("processes: %d", WEXITSTATUS(status));
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	usleep(1000);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	printf(" %d\n", WTERMSIG(status));
}

/* A tracer that comes while the other is within a call sees all of its registers. */
static void traced(void)
{
	struct user_regs_struct seen;
	int ends[2], status, steps = 0, calls = 0;
	char byte;
	pid_t pid;

	if (pipe(ends))
		return;
	pid = fork();
	if (!pid) {
		register long kept asm("r13") = 0x1234567;

		asm volatile("syscall" : : "a"(SYS_read), "D"(ends[0]), "S"(&byte), "d"(1L), "r"(kept)
			     : "rcx", "r11", "memory");
		getppid();
		_exit(byte);
	}
	usleep(1000);
	ptrace(PTRACE_ATTACH, pid, 0, 0);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_GETREGS, pid, 0, &seen);
	printf("traced: %llx %lld %d %d", seen.r13, seen.rdi - ends[0],
	       seen.rsi - (uintptr_t)&byte < PAGE, seen.rsp - (uintptr_t)&byte + 65536 < 131072);
	if (write(ends[1], "y", 1) != 1)
		return;
	for (ptrace(PTRACE_SYSCALL, pid, 0, 0); waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);
	     ptrace(calls < 4 ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, pid, 0, 0)) {
		ptrace(PTRACE_GETREGS, pid, 0, &seen);
		if (calls < 4)
			printf(" %lld:%lld", seen.orig_rax, seen.rax < 4096 ? seen.rax : -1ll);
		calls++;
		steps += calls > 4;
	}
	printf(" %d %d\n", steps > 3, WEXITSTATUS(status));
}

/* The host's calls of the kernel are in a page of each process: its code is not a program's way out. */
static int jumps_to(const unsigned char *page, const char *code, int length, long number)
{
	const void *at = memmem(page, PAGE, code, length);
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (at)
			asm volatile("jmp *%0" : : "r"(at), "a"(number), "D"(42l), "S"(0l) : "memory");
		_exit(99);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void jumps(void)
{
	char *page = (char *)0x7fbffff000;

	for (int i = 0; i < 64 && (faults_at(page, 0) || !memmem(page, PAGE, "\x0f\x05", 2)); i++)
		page -= PAGE;
	if (faults_at(page, 0)) { /* this processor can keep code from being read */
		puts("jumps: not found");
		return;
	}
	signal(SIGSEGV, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	printf("jumps: %d", jumps_to((void *)page, "\x0f\x05", 2, SYS_getppid));
	printf(" %d\n", jumps_to((void *)page, "\xcc", 1, 0));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	registers();
	printf("32 bits: %d\n", by_32_bit(20) == syscall(SYS_writev, -1, 0, 0));
	threads();
	signals();
	faults();
	memory();
	accesses();
	processes();
	traced();
	jumps();
	printf("end\n");
	return 0;
}

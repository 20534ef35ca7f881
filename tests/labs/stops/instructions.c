// SPDX-License-Identifier: GPL-2.0-only
/*
 * Says of each instruction whether the decoder of patch 0026 is right: the processor knows.
 *
 * Each instruction faults at a page that is not there, or that can only be read. The processor puts
 * into its error code whether it was a write.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "instruction.c"

#define PAGE_SIZE 4096
#define KNOWN(text) CASE(text, 1)
#define OTHER(text) CASE(text, 0)
#define CASE(text, known)								\
	".pushsection cases,\"aw\"; .quad 1f, 2f, " #known "; .popsection\n"		\
	".pushsection .rodata; 2: .asciz \"" text "\"; .popsection\n"			\
	"1: " text "\n hlt\n .fill 16, 1, 0x90\n"

asm(".text\n"
    KNOWN("mov %al, (%rdi)") KNOWN("mov %eax, 8(%rdi)") KNOWN("mov %rax, (%rdi,%rax)")
    KNOWN("mov %r9w, (%rdi)") KNOWN("movl $5, (%rdi)") KNOWN("movb $5, 1(%rdi)")
    KNOWN("movq $5, 0x100(%rdi)") KNOWN("mov (%rdi), %al") KNOWN("mov (%rdi), %r10")
    KNOWN("movzbl (%rdi), %eax") KNOWN("movswl (%rdi), %eax") KNOWN("movslq (%rdi), %rax")
    KNOWN("movnti %eax, (%rdi)") KNOWN("cmovz (%rdi), %eax") KNOWN("imul (%rdi), %eax")
    KNOWN("imul $3, (%rdi), %eax") KNOWN("imul $300, (%rdi), %eax") KNOWN("mull (%rdi)")
    KNOWN("add %eax, (%rdi)") KNOWN("sub %al, (%rdi)") KNOWN("or (%rdi), %eax") KNOWN("xor (%rdi), %al")
    KNOWN("addl $1, (%rdi)") KNOWN("andq $-2, (%rdi)") KNOWN("orl $0x1000, (%rdi)")
    KNOWN("addb $1, (%rdi)") KNOWN("cmp %eax, (%rdi)") KNOWN("cmp (%rdi), %al") KNOWN("cmpb $0, (%rdi)")
    KNOWN("cmpl $0x1000, (%rdi)") KNOWN("cmpq $1, (%rdi)") KNOWN("test %eax, (%rdi)")
    KNOWN("testb $1, (%rdi)") KNOWN("testl $1, (%rdi)") KNOWN("notl (%rdi)") KNOWN("negb (%rdi)")
    KNOWN("incl (%rdi)") KNOWN("decb (%rdi)") KNOWN("lock incq (%rdi)") KNOWN("lock xadd %eax, (%rdi)")
    KNOWN("xchg %eax, (%rdi)") KNOWN("xchg %al, (%rdi)") KNOWN("cmpxchg %ecx, (%rdi)")
    KNOWN("lock cmpxchg %cl, (%rdi)") KNOWN("lock cmpxchg16b (%rdi)") KNOWN("setz (%rdi)")
    KNOWN("rep stosb") KNOWN("stosq") KNOWN("rep movsb") KNOWN("movsq") KNOWN("push %rax")
    KNOWN("push %r12") KNOWN("push $5") KNOWN("push $0x12345") KNOWN("call . + 100") KNOWN("pop %rax")
    KNOWN("pop %r15") KNOWN("ret") KNOWN("leave")
    KNOWN("movups %xmm0, (%rdi)") KNOWN("movups (%rdi), %xmm0") KNOWN("movaps %xmm9, (%rdi)")
    KNOWN("movapd (%rdi), %xmm0") KNOWN("movss %xmm0, (%rdi)") KNOWN("movsd (%rdi), %xmm0")
    KNOWN("movlps %xmm0, (%rdi)") KNOWN("movhps %xmm0, (%rdi)") KNOWN("movlpd (%rdi), %xmm0")
    KNOWN("movhpd (%rdi), %xmm0") KNOWN("movddup (%rdi), %xmm0") KNOWN("movntps %xmm0, (%rdi)")
    KNOWN("movdqa %xmm0, (%rdi)") KNOWN("movdqu %xmm0, (%rdi)") KNOWN("movdqa (%rdi), %xmm0")
    KNOWN("movdqu (%rdi), %xmm8") KNOWN("movq %xmm0, (%rdi)") KNOWN("movq (%rdi), %xmm0")
    KNOWN("movd %xmm0, (%rdi)") KNOWN("movd %mm0, (%rdi)") KNOWN("movq %mm0, (%rdi)")
    KNOWN("movq (%rdi), %mm0") KNOWN("movntdq %xmm0, (%rdi)") KNOWN("movntq %mm0, (%rdi)")
    KNOWN("vmovdqu %ymm0, (%rdi)") KNOWN("vmovdqu (%rdi), %ymm0") KNOWN("vmovups %ymm9, (%rdi)")
    KNOWN("vmovdqa %ymm8, (%r8)") KNOWN("vmovdqu (%r8), %xmm1") KNOWN("vmovq %xmm0, (%rdi)")
    KNOWN("vmovq (%rdi), %xmm0") KNOWN("vmovd %xmm0, (%rdi)") KNOWN("vmovsd %xmm0, (%rdi)")
    KNOWN("vmovdqu64 %zmm16, (%rdi)") KNOWN("vmovdqu8 %ymm17, (%rdi)") KNOWN("vmovdqu64 (%rdi), %zmm16")
    KNOWN("vmovups %zmm0, (%rdi)") KNOWN("vmovntdq %zmm0, (%rdi)")
    OTHER("pushq (%rdi)") OTHER("popq (%rdi)") OTHER("call *(%rdi)") OTHER("jmp *(%rdi)")
    OTHER("shll $1, (%rdi)") OTHER("bts %eax, (%rdi)") OTHER("lodsq") OTHER("scasb") OTHER("cmpsb")
    OTHER("fstpt (%rdi)") OTHER("fldt (%rdi)") OTHER("fxsave (%rdi)") OTHER("stmxcsr (%rdi)")
    OTHER("vpcmpeqb (%rdi), %ymm0, %ymm1") OTHER("pinsrw $1, (%rdi), %xmm0") OTHER("movbe %eax, (%rdi)")
    OTHER("vextracti128 $1, %ymm0, (%rdi)"));

struct test {
	const unsigned char *code;
	const char *text;
	long known;
};
extern const struct test __start_cases[], __stop_cases[];

static sigjmp_buf back;
static volatile long code_of_error, where, trap;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	code_of_error = registers[REG_ERR];
	trap = number == SIGILL ? 6 : registers[REG_TRAPNO];
	where = registers[REG_CR2];
	siglongjmp(back, 1);
}

/* With rdi and rsi; the stack and r8 lie at the page, too. Is it a fault there? */
static int run(const struct test *test, char *to, char *from, char *page)
{
	trap = 0;
	if (!sigsetjmp(back, 1))
		asm volatile("lea 2048(%3), %%rsp; movq %%rsp, %%rbp; movq %3, %%r8; jmp *%0"
			     : : "b"(test->code), "D"(to), "S"(from), "d"(page), "a"(0l), "c"(1l)
			     : "r8", "memory");
	return trap == 14 && where - (long)page >= 0 && where - (long)page < PAGE_SIZE;
}

/* With every number of bytes that are known of it. */
static int wrong(const struct test *test, char *to, char *from)
{
	int writes = code_of_error >> 1 & 1, said = UNKNOWN_ACCESS, bad = 0;

	for (int length = 0; length <= 15; length++) {
		said = instruction_writes(test->code, length, where, (long)from, (long)to);
		bad |= said != UNKNOWN_ACCESS && (said != writes || length == 0);
	}
	bad |= said == UNKNOWN_ACCESS && test->known;
	printf("%s: %s, %d%s\n", test->text, writes ? "writes" : "reads", said, bad ? " WRONG" : "");
	return bad;
}

int main(void)
{
	static char room[65536];
	char *gone = mmap(NULL, 4 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *there = gone + 2 * PAGE_SIZE;
	stack_t stack = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	const int rights[] = { PROT_NONE, PROT_READ };
	int bad = 0, seen;

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
	for (const struct test *test = __start_cases; test < __stop_cases; test++) {
		seen = 0;
		for (int i = 0; i < 2; i++) {
			mprotect(gone, PAGE_SIZE, rights[i]);
			if (run(test, gone, there, gone) && ++seen)
				bad |= wrong(test, gone, there);
			if (run(test, there, gone, gone) && ++seen)
				bad |= wrong(test, there, gone);
		}
		if (!seen)
			printf("%s: no fault, trap %ld\n", test->text, trap);
	}
	return bad;
}

/*
 * Writes to a page with code from blocks that have something in every register, and says whether any register was lost. Between
 * the blocks the code is executed, so that each write is to code that the recorder knows.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

uint64_t got[12], memory[64];
unsigned char *page;

#define SET(n, name) "movabsq $0x1111111111111111*" #n ",%%" name "\n\t"
#define GET(n, name) "movq %%" name ",got+8*" #n "(%%rip)\n\t"
#define ALL(of)                                                                                                        \
	of(1, "rcx") of(2, "rdx") of(3, "rsi") of(4, "rdi") of(5, "r8") of(6, "r9") of(7, "r10") of(8, "r11") of(9, "r12") \
	    of(10, "r13") of(11, "r14")

/* What stands before and after the write decides which registers the recorder uses. */
#define WRITE(name, before, write, after)                                                                              \
	static void name(void)                                                                                             \
	{                                                                                                                  \
		__asm__ volatile("movq page(%%rip),%%rax\n\tleaq memory(%%rip),%%rbx\n\t" ALL(SET) "jmp 1f\n1:\t" before       \
				 write after "jmp 2f\n2:\t" ALL(GET)                                                                   \
				 :                                                                                                     \
				 :                                                                                                     \
				 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "memory",  \
				   "cc");                                                                                              \
	}

WRITE(plain, "", "movb %%dl,128(%%rax)\n\t", "")
WRITE(loads, "cmpq 8(%%rbx),%%rcx\n\tcmpq 16(%%rbx),%%rdx\n\t", "movq %%r9,128(%%rax)\n\t", "cmpq %%rcx,%%rdx\n\t")
WRITE(stores, "movq %%rcx,8(%%rbx)\n\tmovq %%rsi,16(%%rbx)\n\t", "addl $1,128(%%rax)\n\t", "movq %%rdi,24(%%rbx)\n\t")
WRITE(mixed, "addq $1,8(%%rbx)\n\ttestq %%r8,%%r8\n\tcmpq (%%rbx),%%rsi\n\t", "movl $5,128(%%rax)\n\t", "movq %%r8,(%%rbx)\n\t")
WRITE(flags, "testq %%rcx,%%rcx\n\tmovq (%%rbx),%%r14\n\tmovabsq $0x1111111111111111*11,%%r14\n\t", "movb %%cl,128(%%rax)\n\t", "")

int main(void)
{
	void (*const writes[])(void) = {plain, loads, stores, mixed, flags};
	int lost = 0;
	page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 5; i++) {
		page[0] = 0xc3;
		((void (*)(void))page)();
		writes[i]();
		for (uint64_t n = 1; n < 12; n++)
			lost += got[n] != 0x1111111111111111 * n;
	}
	printf("%d registers lost\n", lost);
	return lost != 0;
}

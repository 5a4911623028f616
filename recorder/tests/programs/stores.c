/* Writes to `buf` by many kinds of instructions, then says where `buf` is and what it holds. */
#include <stdio.h>

#include "marker.h"

__attribute__((aligned(64))) unsigned char buf[4096], src[256];
unsigned char seen[4096];

#define WRITES(size, offset) "=m"(*(unsigned char(*)[size])(buf + (offset)))
#define CHANGES(size, offset) "+m"(*(unsigned char(*)[size])(buf + (offset)))

__attribute__((noinline)) static void work(void) {
    __asm__ volatile("movb $0x11, %0" : WRITES(1, 0));
    __asm__ volatile("movw $0x2222, %0" : WRITES(2, 2));
    __asm__ volatile("movl $0x33333333, %0" : WRITES(4, 4));
    __asm__ volatile("movq $-5, %0" : WRITES(8, 8));
    __asm__ volatile("movups %1, %%xmm0; movups %%xmm0, %0" : WRITES(16, 17) : "m"(src) : "xmm0");
    __asm__ volatile("fld1; fstpt %0" : WRITES(10, 48));
    __asm__ volatile("addl $1, %0" : CHANGES(4, 64));
    __asm__ volatile("lock addl $1, %0" : CHANGES(4, 64));
    __asm__ volatile("mov $-3, %%rax; btsq %%rax, %0" ::"m"(buf[128]) : "rax", "memory", "cc");
    __asm__ volatile("mov $70, %%eax; btsl %%eax, %0" ::"m"(buf[192]) : "rax", "memory", "cc");
    __asm__ volatile("mov $-17, %%ax; btsw %%ax, %0" ::"m"(buf[256]) : "rax", "memory", "cc");
    __asm__ volatile("push $0x77; pop (%0)" ::"r"(buf + 300) : "memory");
    __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; push $0x79; pop 16(%%rsp); mov %%rbx, %%rsp" ::"r"(buf + 400)
                     : "rbx", "memory");
    __asm__ volatile("mov %0, %%rdi; mov $0x5a, %%eax; mov $37, %%ecx; rep stosb" ::"r"(buf + 512)
                     : "rax", "rcx", "rdi", "memory");
    __asm__ volatile("mov %0, %%rdi; mov %1, %%rsi; mov $5, %%ecx; rep movsq" ::"r"(buf + 600), "r"(src)
                     : "rsi", "rcx", "rdi", "memory");
    __asm__ volatile("xor %%ecx, %%ecx; mov %0, %%rdi; rep stosb" ::"r"(buf + 700) : "rcx", "rdi", "memory");
    __asm__ volatile("mov %0, %%rdi; movsb (%%rsi), (%%rdi)" ::"r"(buf + 720), "S"(src) : "rdi", "memory");
    __asm__ volatile("movntdq %%xmm0, %0" : WRITES(16, 768));
    __asm__ volatile("movnti %%rax, %0" : WRITES(8, 792));
    __asm__ volatile("pcmpeqb %%xmm2, %%xmm2; mov %0, %%rdi; maskmovdqu %%xmm2, %%xmm2" ::"r"(buf + 800)
                     : "rdi", "xmm2", "memory");
    __asm__ volatile("xchg %%eax, %0" : CHANGES(4, 832)::"rax");
    __asm__ volatile("xor %%eax, %%eax; mov $9, %%ecx; cmpxchgl %%ecx, %0" : CHANGES(4, 840)::"rax", "rcx", "cc");
    __asm__ volatile("xor %%eax, %%eax; xor %%edx, %%edx; mov $1, %%ebx; mov $2, %%ecx; lock cmpxchg16b %0"
                     : CHANGES(16, 896)::"rax", "rbx", "rcx", "rdx", "cc");
    __asm__ volatile("lea %0, %%rax; nopl %0; prefetcht0 %0; prefetchw %0" ::"m"(buf[960]) : "rax");
    __asm__ volatile("clwb %0" ::"m"(buf[1024]));
    __asm__ volatile("clflushopt %0" ::"m"(buf[1088]));
    __asm__ volatile("clflush %0" ::"m"(buf[1152]));
    __asm__ volatile(".byte 0x66; xsaveopt %0" ::"m"(buf[1216]));
    __asm__ volatile("stc; setc %0" : WRITES(1, 1300));
    __asm__ volatile("fxsave %0" : WRITES(512, 2048));
}

int main(void) {
    for (int i = 0; i < 256; i++) src[i] = i * 3 + 1;
    MARK(REGION_BEGIN);
    work();
    MARK(REGION_END);
    printf("%p ", buf);
    for (int i = 0; i < 2048; i++) printf("%02x", buf[i]);
    printf("\n");
    return 0;
}

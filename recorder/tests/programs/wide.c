/* AVX-512: a full store, and a masked one whose other bytes are not mapped. With an argument, a gather; with `before`, the
   program ends in the gather's block, but before it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((aligned(64))) unsigned char buf[256], src[64];

static void leave(int signal) {
    (void)signal;
    _exit(5);
}

int main(int count, char **arguments) {
    setbuf(stdout, NULL);
    for (int i = 0; i < 64; i++) src[i] = i + 1;
    char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    __asm__ volatile("vmovdqu64 %1, %%zmm0; vmovdqu64 %%zmm0, %0" : "=m"(*(char(*)[64])(buf + 33)) : "m"(src) : "xmm0");
    __asm__ volatile("mov $0xf, %%eax; kmovw %%eax, %%k1; vmovdqu32 %%zmm0, (%0)%{%%k1%}" ::"r"(page + 4080)
                     : "rax", "memory");
    printf("%p %p\n", (void *)(buf + 33), (void *)(page + 4080));
    if (count > 1) {
        signal(SIGSEGV, leave);
        char *first = strcmp(arguments[1], "before") ? (char *)buf : NULL;
        __asm__ volatile("movb (%1), %%al; vpxor %%xmm1, %%xmm1, %%xmm1; vpcmpeqd %%xmm2, %%xmm2, %%xmm2; vpgatherdd %%xmm2, (%0, %%xmm1), %%xmm0"
                         ::"r"(buf), "r"(first) : "rax", "xmm0", "xmm1", "xmm2");
    }
    return 0;
}

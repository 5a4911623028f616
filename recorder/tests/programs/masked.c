/* Masked stores: each writes some of its bytes. With an argument, those of AVX-512 too. */
#include <stdio.h>

__attribute__((aligned(64))) unsigned char buf[512], ones[64];
__attribute__((aligned(32))) static const int lanes[8] = {0, -1, 1, -1, 0, 0, 0, -1};
__attribute__((aligned(32))) static const long quads[4] = {-1, 0, 0, -1};
__attribute__((aligned(16))) static const unsigned char bytes[16] = {0x80, 0, 0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};

int main(int count, char **arguments) {
    for (int i = 0; i < 64; i++) ones[i] = 1;
    printf("%p\n", (void *)buf);
    __asm__ volatile("vmovdqa %1, %%ymm3; vmovdqa %2, %%ymm12; vpmaskmovd %%ymm12, %%ymm3, (%0)" ::"r"(buf), "m"(lanes), "m"(ones)
                     : "xmm3", "xmm12", "memory");
    __asm__ volatile("vmovdqa %1, %%ymm12; vmovdqa %2, %%ymm3; vmaskmovpd %%ymm3, %%ymm12, (%0)" ::"r"(buf + 64), "m"(quads), "m"(ones)
                     : "xmm3", "xmm12", "memory");
    __asm__ volatile("vmovdqa %1, %%xmm3; vmovdqa %2, %%xmm12; vmaskmovps %%xmm12, %%xmm3, (%0)" ::"r"(buf + 128), "m"(lanes), "m"(ones)
                     : "xmm3", "xmm12", "memory");
    __asm__ volatile("movdqa %1, %%xmm3; movdqa %2, %%xmm12; maskmovdqu %%xmm3, %%xmm12" ::"D"(buf + 192), "m"(bytes), "m"(ones)
                     : "xmm3", "xmm12", "memory");
    __asm__ volatile("vmovdqa %1, %%ymm3; vmovdqa %2, %%ymm12; vpmaskmovq %%ymm12, %%ymm3, (%0)" ::"r"(buf + 224), "m"(quads), "m"(ones)
                     : "xmm3", "xmm12", "memory");
    if (count > 1) {
        /* glibc clears 3 bytes so. */
        __asm__ volatile("vmovdqa %1, %%ymm12; mov $7, %%eax; kmovd %%eax, %%k3; vmovdqu8 %%ymm12, (%0)%{%%k3%}" ::"r"(buf + 256), "m"(ones)
                         : "rax", "xmm12", "memory");
        __asm__ volatile("vmovdqa %1, %%ymm12; mov $0x48, %%eax; kmovb %%eax, %%k3; vpcompressd %%ymm12, (%0)%{%%k3%}" ::"r"(buf + 320), "m"(ones)
                         : "rax", "xmm12", "memory");
        __asm__ volatile("vmovdqu32 %1, %%ymm22; vmovdqu32 %%ymm22, (%0)" ::"r"(buf + 384), "m"(ones) : "memory");
    }
    return 0;
}

/* Clears three bytes at a line's end by a masked store of 32 bytes, as glibc does with AVX-512, and flushes that line. With a
   second argument the mask selects a byte of the next line, too, which nothing flushes. */
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

__attribute__((target("avx2"))) static void store(void *to, int lanes) {
    __m256i mask = _mm256_set_epi32(0, 0, 0, 0, 0, 0, lanes > 1 ? -1 : 0, -1);
    _mm256_maskstore_epi32(to, mask, _mm256_set1_epi32(7));
}

int main(int count, char **words) {
    int file = open(words[1], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    char *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    store(pool + 60, count > 2 ? 2 : 1);
    _mm_clwb(pool);
    _mm_sfence();
    return 0;
}

/* Flushes and stores past the caches, and fences neither. With a second argument it leaves by _exit, else by return. */
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **words) {
    int file = open(words[1], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    long long *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    _mm_stream_si64(&pool[64], 5);
    pool[0] = 1;
    _mm_clwb(pool);
    if (count > 2) _exit(0);
    return 0;
}

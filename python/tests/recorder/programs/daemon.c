/* Becomes a daemon, as servers do: the second process that it forks stores to the pool. */
#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **words) {
    if (fork() > 0) return 0;
    setsid();
    if (fork() > 0) _exit(0);
    int file = open(words[count - 1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096)) return 1;
    long *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pool == MAP_FAILED) return 1;
    pool[0] = 1;
    _mm_clwb(pool);
    _mm_sfence();
    return 5;
}

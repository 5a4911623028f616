/* Stores, flushes and fences in helpers and in the C library, on behalf of several functions. */
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static char *pool;

static NOINLINE void persist(void *at) {
    _mm_clwb(at);
    _mm_sfence();
}

static NOINLINE void insert(long value) {
    *(volatile long *)pool = value;
    persist(pool); /* needed */
    __asm__ volatile("");
}

static NOINLINE void search(void) {
    persist(pool); /* superfluous: nothing was stored */
    __asm__ volatile("");
}

static NOINLINE void append(const char *text) {
    memcpy(pool + 256, text, 300); /* never flushed */
    __asm__ volatile("");
}

int main(int count, char **words) {
    static char text[300] = "text";
    void *volatile copy = memcpy;
    (void)copy;
    int file = open(words[count - 1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096)) return 1;
    pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pool == MAP_FAILED) return 1;
    insert(1);
    search();
    insert(2);
    search();
    append(text);
    return 0;
}

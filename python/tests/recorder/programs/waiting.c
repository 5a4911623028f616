// Threads that take turns: by a ticket lock, a test-and-set lock, or a word that says whose turn it is.
// waiting POOL KIND TASKS: each of two threads increments a persistent counter so often.
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile uint64_t *counter;
static struct {
    uint64_t next __attribute__((aligned(64)));
    volatile uint64_t serving __attribute__((aligned(64)));
} ticket;
static int held __attribute__((aligned(64)));
static const char *kind;
static long tasks;

static uint64_t lock(uint64_t me) {
    uint64_t mine = 0;
    if (!strcmp(kind, "ticket")) {
        mine = __atomic_fetch_add(&ticket.next, 1, __ATOMIC_ACQ_REL);
        while (ticket.serving != mine)
            _mm_pause();
    } else if (!strcmp(kind, "yield")) {
        mine = __atomic_fetch_add(&ticket.next, 1, __ATOMIC_ACQ_REL);
        while (ticket.serving != mine)
            sched_yield();
    } else if (!strcmp(kind, "word")) {
        while ((mine = ticket.serving) % 2 != me)
            _mm_pause();
    } else {
        while (__atomic_exchange_n(&held, 1, __ATOMIC_ACQUIRE))
            _mm_mfence();
    }
    return mine;
}

static void unlock(uint64_t mine) {
    if (!strcmp(kind, "set"))
        __atomic_store_n(&held, 0, __ATOMIC_RELEASE);
    else
        ticket.serving = mine + 1;
}

static void *run(void *me) {
    for (long task = 0; task < tasks; task++) {
        uint64_t mine = lock((uint64_t)me);
        for (int i = 0; i < 200; i++)
            *counter = *counter + 1;
        _mm_clflush((void *)counter);
        _mm_sfence();
        unlock(mine);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 4)
        return 2;
    kind = argv[2];
    tasks = atol(argv[3]);
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096))
        return 2;
    counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pthread_t other;
    pthread_create(&other, NULL, run, (void *)1);
    run((void *)0);
    pthread_join(other, NULL);
    printf("%lu\n", (unsigned long)*counter);
    return 0;
}

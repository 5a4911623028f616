/* A reader waits for a word that another thread publishes by a plain store, persists it, and acts. Right however it waits. */
#include "pool.h"
#include <sched.h>
#include <time.h>
enum { RIGHT, PAUSE, YIELD, SLEEP, NANOSLEEP, READ_ONCE, DEEP };

struct pool {
    LINE word directory;
    LINE word acted;
};

static struct pool *pool;

APART void nothing(volatile int *count) {
    for (int i = 0; i < 40; i++) (*count)++;
}

static void wait(void) {
    volatile int count = 0;
    struct timespec time = {0, 50000};
    if (HOW == PAUSE) __builtin_ia32_pause();
    if (HOW == YIELD) sched_yield();
    if (HOW == SLEEP) usleep(50);
    if (HOW == NANOSLEEP) nanosleep(&time, NULL);
    if (HOW == DEEP) nothing(&count);
}

static void *writer(void *unused) {
    pool->directory = 1;
    persist(&pool->directory, 8);
    return unused;
}

static void *reader(void *unused) {
    if (HOW == READ_ONCE) usleep(20000);
    if (HOW == READ_ONCE && !pool->directory) return unused;
    while (HOW != READ_ONCE && __atomic_load_n(&pool->directory, __ATOMIC_ACQUIRE) == 0) wait();
    persist(&pool->directory, 8);
    pool->acted = 1;
    persist(&pool->acted, 8);
    return unused;
}

static void run(struct pool *p) {
    pthread_t threads[2]; /* the reader waits before there is a writer */
    pool = p;
    pthread_create(&threads[0], NULL, reader, NULL);
    if (HOW != READ_ONCE) usleep(2000);
    pthread_create(&threads[1], NULL, writer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void check(struct pool *p) {
    REQUIRE(!p->acted || p->directory == 1);
}

PROGRAM

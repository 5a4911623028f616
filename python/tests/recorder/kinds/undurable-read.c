/* A thread persists what it has read, before the thread that wrote it has flushed it. */
#include "pool.h"
#include <pthread.h>

struct pool {
    LINE uint64_t value;
    LINE uint64_t seen;
};

static void *reader(void *at) {
    struct pool *pool = at;
    uint64_t value;
    do {
        value = __atomic_load_n(&pool->value, __ATOMIC_ACQUIRE);
    } while (value == 0);
#ifdef MENDED
    persist(&pool->value, 8);
#endif
    pool->seen = value; /* HERE */
    persist(&pool->seen, 8);
    return NULL;
}

static void run(void *at) {
    struct pool *pool = at;
    pthread_t thread;
    pthread_create(&thread, NULL, reader, pool);
    __atomic_store_n(&pool->value, 7, __ATOMIC_SEQ_CST);
    persist(&pool->value, 8);
    pthread_join(thread, NULL);
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->seen > pool->value;
}

PROGRAM(sizeof(struct pool))

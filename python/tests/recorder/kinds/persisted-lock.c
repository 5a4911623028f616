/* A lock in persistent memory is found held after a crash, and nobody opens it. */
#include "pool.h"

struct pool {
    LINE uint64_t lock;
    LINE uint64_t count;
};

static void run(void *at) {
    struct pool *pool = at;
    for (int round = 0; round < 3; round++) {
        while (__atomic_exchange_n(&pool->lock, 1, __ATOMIC_ACQUIRE) != 0) { /* HERE */
        }
        pool->count += 1;
        persist(&pool->count, 8);
        __atomic_store_n(&pool->lock, 0, __ATOMIC_RELEASE);
        persist(&pool->lock, 8);
    }
}

static int check(void *at) {
    struct pool *pool = at;
#ifdef MENDED
    pool->lock = 0;
#endif
    return __atomic_exchange_n(&pool->lock, 1, __ATOMIC_ACQUIRE) != 0;
}

PROGRAM(sizeof(struct pool))

/* The line is written once more after its flush. */
#include "pool.h"

struct pool {
    LINE uint64_t first;
    uint64_t last;
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    pool->first = 7;
#ifdef MENDED
    pool->last = 8;
#endif
    flush(&pool->first);
#ifndef MENDED
    pool->last = 8; /* HERE */
#endif
    fence();
    pool->valid = 1;
    persist(&pool->valid, 8);
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->valid && (pool->first != 7 || pool->last != 8);
}

PROGRAM(sizeof(struct pool))

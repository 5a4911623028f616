/* The flag is durable before the value that it vouches for. */
#include "pool.h"

struct pool {
    LINE uint64_t value;
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
#ifndef MENDED
    pool->valid = 1; /* HERE */
    persist(&pool->valid, 8);
#endif
    pool->value = 7;
    persist(&pool->value, 8);
#ifdef MENDED
    pool->valid = 1;
    persist(&pool->valid, 8);
#endif
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->valid && pool->value != 7;
}

PROGRAM(sizeof(struct pool))

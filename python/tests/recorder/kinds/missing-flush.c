/* The value's line is never flushed before the flag says that it is there. */
#include "pool.h"

struct pool {
    LINE uint64_t value;
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    pool->value = 7; /* HERE */
#ifdef MENDED
    flush(&pool->value);
#endif
    fence();
    pool->valid = 1;
    persist(&pool->valid, 8);
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->valid && pool->value != 7;
}

PROGRAM(sizeof(struct pool))

/* The value is flushed, but no fence orders the flush before the flag. */
#include "pool.h"

struct pool {
    LINE uint64_t value;
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    pool->value = 7; /* HERE */
    flush(&pool->value);
#ifdef MENDED
    fence();
#endif
    pool->valid = 1;
    persist(&pool->valid, 8);
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->valid && pool->value != 7;
}

PROGRAM(sizeof(struct pool))

/* The value is stored before the flag in the source. The compiler sees two stores to the value, and drops the first. Both
 * words are in one line, so the processor would keep their order. */
#include "pool.h"

struct pool {
    LINE uint64_t value;
    uint64_t unused; /* or one store of 16 bytes writes both */
    uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    pool->value = 7;
#ifdef MENDED
    compiler_fence();
#endif
    pool->valid = 1; /* HERE */
#ifdef MENDED
    compiler_fence();
#endif
    pool->value = 8;
    persist(pool, sizeof *pool);
}

static int check(void *at) {
    struct pool *pool = at;
    return pool->valid && pool->value != 7 && pool->value != 8;
}

PROGRAM(sizeof(struct pool))

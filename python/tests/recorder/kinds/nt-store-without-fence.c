/* A non-temporal store needs no flush, but a fence. */
#include "pool.h"
#include <immintrin.h>

struct pool {
    LINE uint64_t value;
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    _mm_stream_si64((long long *)&pool->value, 7); /* HERE */
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

/* A store of 16 bytes is taken for atomic; power fails between its halves. */
#include "pool.h"
#include <emmintrin.h>

struct pool {
    LINE uint64_t pair[2]; /* a number, and its complement */
};

static void run(void *at) {
    struct pool *pool = at;
    for (int64_t number = 1; number < 4; number++) {
#ifdef MENDED
        /* Eight bytes are atomic. */
        uint64_t packed = (uint64_t)number << 32 | (uint32_t)~number;
        pool->pair[0] = packed;
        persist(pool->pair, 8);
#else
        _mm_store_si128((__m128i *)pool->pair, _mm_set_epi64x(~number, number)); /* HERE */
        persist(pool->pair, 16);
#endif
    }
}

static int check(void *at) {
    struct pool *pool = at;
#ifdef MENDED
    uint64_t packed = pool->pair[0];
    return packed != 0 && (uint32_t)packed != (uint32_t) ~(packed >> 32);
#else
    return pool->pair[0] != 0 && pool->pair[1] != ~pool->pair[0];
#endif
}

PROGRAM(sizeof(struct pool))

/* A block is taken from the allocator, and a crash before it is linked loses it for ever. */
#include "pool.h"

struct pool {
    LINE uint64_t taken[4];
    LINE uint64_t linked[4];
};

static void run(void *at) {
    struct pool *pool = at;
    for (int number = 0; number < 4; number++) {
        pool->taken[number] = 1; /* HERE */
        persist(&pool->taken[number], 8);
        pool->linked[number] = 1;
        persist(&pool->linked[number], 8);
    }
}

static int check(void *at) {
    struct pool *pool = at;
#ifdef MENDED
    /* Recovery gives back what nobody links. */
    for (int number = 0; number < 4; number++) {
        pool->taken[number] &= pool->linked[number];
    }
#endif
    for (int number = 0; number < 4; number++) {
        if (pool->taken[number] != pool->linked[number]) {
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

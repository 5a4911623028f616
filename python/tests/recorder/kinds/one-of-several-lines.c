/* An object of three lines, of which the first alone is flushed. */
#include "pool.h"

struct pool {
    LINE uint64_t words[24];
    LINE uint64_t valid;
};

static void run(void *at) {
    struct pool *pool = at;
    for (uint64_t number = 0; number < 24; number++) {
        pool->words[number] = number + 1; /* HERE */
    }
#ifdef MENDED
    persist(pool->words, sizeof pool->words);
#else
    persist(pool->words, sizeof pool->words[0]);
#endif
    pool->valid = 1;
    persist(&pool->valid, 8);
}

static int check(void *at) {
    struct pool *pool = at;
    for (uint64_t number = 0; pool->valid && number < 24; number++) {
        if (pool->words[number] != number + 1) {
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

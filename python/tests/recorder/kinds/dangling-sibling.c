/* A leaf is freed, and its memory is used again, while its left neighbour may still point to it. */
#include "pool.h"

enum { LEAF = 1, FREE = 2, LOG = 3 };

struct leaf {
    LINE uint64_t kind;
    uint64_t sibling; /* a leaf's number, 0 for none */
};

struct pool {
    LINE uint64_t ready;
    struct leaf leaves[4];
};

static void run(void *at) {
    struct pool *pool = at;
    for (uint64_t number = 1; number < 4; number++) {
        pool->leaves[number].kind = LEAF;
        pool->leaves[number].sibling = (number + 1) % 4;
        persist(&pool->leaves[number], 64);
    }
    pool->ready = 1;
    persist(&pool->ready, 8);

    /* Leaf 2 goes. */
    pool->leaves[1].sibling = 3; /* HERE */
    flush(&pool->leaves[1]);
#ifdef MENDED
    fence();
#endif
    pool->leaves[2].kind = FREE;
    flush(&pool->leaves[2]);
    fence();
    pool->leaves[2].kind = LOG;
    pool->leaves[2].sibling = 99;
    persist(&pool->leaves[2], 64);
}

static int check(void *at) {
    struct pool *pool = at;
    if (pool->ready == 0) {
        return 0;
    }
    for (uint64_t number = 1; number != 0; number = pool->leaves[number].sibling) {
        if (number >= 4 || pool->leaves[number].kind != LEAF) {
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

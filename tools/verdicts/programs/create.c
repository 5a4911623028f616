/* A pool is made and filled in one run. What recovery finds may be half-made. */
#include "pool.h"
enum { RIGHT, MAGIC_LAST, MAGIC_FIRST, ONE_FENCE, SIZE_UNFLUSHED };

struct pool {
    LINE word magic;
    LINE word size;
    LINE word root[8];
};

static void run(struct pool *p) {
    if (HOW == MAGIC_FIRST) p->magic = 0x5ea1; /* BUG: MAGIC_FIRST */
    if (HOW == MAGIC_FIRST) persist(&p->magic, 8);
    p->size = 64; /* BUG: MAGIC_FIRST ONE_FENCE SIZE_UNFLUSHED */
    if (HOW != SIZE_UNFLUSHED) flush(&p->size);
    if (HOW == MAGIC_LAST) fence();
    for (int i = 0; i < 8; i++) p->root[i] = 9; /* BUG: MAGIC_FIRST ONE_FENCE */
    flush(p->root);
    if (HOW != ONE_FENCE) fence();
    if (HOW != MAGIC_FIRST) p->magic = 0x5ea1;
    if (HOW != MAGIC_FIRST) persist(&p->magic, 8);
}

static void check(struct pool *p) {
    if (p->magic == 0x5ea1) REQUIRE(p->size == 64 && p->root[0] == 9 && p->root[7] == 9);
}

PROGRAM

/* A leaf is unlinked, freed, and its memory is used again. Its left neighbour must have lost it durably before. */
#include "pool.h"
enum { RIGHT, CLFLUSH, NO_FENCE, FREED_FIRST, NO_FLUSH };
enum { LEAF = 1, FREE = 2, LOG = 3 };

struct pool {
    LINE word ready;
    struct {
        LINE word kind;
        word sibling; /* a leaf's number, 0 for none */
    } leaves[4];
};

static void unlink_leaf(struct pool *p) {
    p->leaves[1].sibling = 3; /* BUG */
    if (HOW == CLFLUSH) __asm__ volatile("clflush %0" ::"m"(p->leaves[1]) : "memory");
    else if (HOW != NO_FLUSH) flush(&p->leaves[1]);
    if (HOW == RIGHT || HOW == FREED_FIRST) fence();
}

static void run(struct pool *p) {
    for (int i = 1; i < 4; i++) {
        p->leaves[i].kind = LEAF;
        p->leaves[i].sibling = (i + 1) % 4;
    }
    persist(&p->leaves[1], 3 * 64);
    p->ready = 1;
    persist(&p->ready, 8);
    if (HOW != FREED_FIRST) unlink_leaf(p);
    p->leaves[2].kind = FREE; /* BUG: FREED_FIRST */
    persist(&p->leaves[2], 8);
    if (HOW == FREED_FIRST) unlink_leaf(p);
    p->leaves[2].sibling = 0;
    p->leaves[2].kind = LOG;
    persist(&p->leaves[2], 16);
}

static void check(struct pool *p) {
    for (uint64_t at = 1; p->ready && at != 0; at = p->leaves[at].sibling) REQUIRE(p->leaves[at].kind == LEAF);
}

PROGRAM

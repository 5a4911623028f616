/* A leaf of a B-link tree is split: the right half goes to a new sibling, then the left one is cut. */
#include "pool.h"
enum { RIGHT, LOCKED_LINK, CUT_FIRST, LINK_IN_LINE, SIBLING_UNFLUSHED, COUNT_APART };

struct pool {
    struct {
        LINE word count;
        word sibling;
        LINE word keys[8];
    } leaves[3];
};

static void cut(struct pool *p) {
    p->leaves[1].count = 4; /* BUG: CUT_FIRST */
    persist(&p->leaves[1], 8);
}

static void run(struct pool *p) {
    for (int i = 0; i < 8; i++) p->leaves[1].keys[i] = i + 1;
    p->leaves[1].count = 8;
    persist(&p->leaves[1], sizeof p->leaves[1]);
    STRANDLINE_REGION_BEGIN();
    for (int i = 0; i < 4; i++) p->leaves[2].keys[i] = p->leaves[1].keys[4 + i]; /* BUG: SIBLING_UNFLUSHED */
    if (HOW != COUNT_APART) p->leaves[2].count = 4;
    if (HOW != COUNT_APART) flush(&p->leaves[2].count);
    if (HOW != SIBLING_UNFLUSHED) flush(p->leaves[2].keys);
    fence();
    if (HOW == CUT_FIRST) cut(p);
    if (HOW == LOCKED_LINK) __atomic_exchange_n(&p->leaves[1].sibling, 2, __ATOMIC_ACQ_REL);
    else p->leaves[1].sibling = 2; /* BUG */
    flush(&p->leaves[1]);
    if (HOW != LINK_IN_LINE) fence(); /* link and count are of one line, which keeps their order */
    if (HOW == COUNT_APART) p->leaves[2].count = 4; /* BUG: COUNT_APART */
    if (HOW == COUNT_APART) flush(&p->leaves[2]);
    if (HOW != CUT_FIRST) cut(p);
}

static void check(struct pool *p) {
    uint64_t seen = 0;
    for (uint64_t at = 1; at; at = p->leaves[at].sibling) {
        for (uint64_t i = 0; i < p->leaves[at].count; i++) {
            REQUIRE(p->leaves[at].keys[i] >= 1 && p->leaves[at].keys[i] <= 8);
            seen |= 1u << p->leaves[at].keys[i];
        }
    }
    REQUIRE(seen == 0x1fe);
}

PROGRAM

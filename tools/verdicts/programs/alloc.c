/* A block is taken from an allocator and linked. A crash between the two leaks it or gives it away twice, unless recovery
 * looks. */
#include "pool.h"
enum { RIGHT, INTENT, LEAK, USED_TWICE, ONE_FENCE, UNFLUSHED_BITMAP };

struct pool {
    LINE word taken; /* a bit a block */
    LINE word intent;
    struct {
        LINE word linked;
    } blocks[4];
};

static void take(struct pool *p, int block) {
    p->taken |= 1u << block; /* BUG: LEAK USED_TWICE ONE_FENCE UNFLUSHED_BITMAP */
    if (HOW != UNFLUSHED_BITMAP) flush(&p->taken);
    if (HOW != ONE_FENCE && HOW != UNFLUSHED_BITMAP) fence();
}

static void run(struct pool *p) {
    for (int block = 0; block < 4; block++) {
        if (HOW == INTENT) p->intent = block + 1;
        if (HOW == INTENT) persist(&p->intent, 8);
        if (HOW != USED_TWICE) take(p, block);
        p->blocks[block].linked = 1; /* BUG: LEAK USED_TWICE ONE_FENCE UNFLUSHED_BITMAP */
        persist(&p->blocks[block], 8);
        if (HOW == USED_TWICE) take(p, block);
        if (HOW == INTENT) p->intent = 0;
        if (HOW == INTENT) persist(&p->intent, 8);
    }
}

static void check(struct pool *p) {
    if (HOW == INTENT && p->intent && !p->blocks[p->intent - 1].linked) p->taken &= ~(1ul << (p->intent - 1));
    for (int block = 0; block < 4; block++) {
        uint64_t taken = p->taken >> block & 1, linked = p->blocks[block].linked;
        if (HOW == RIGHT) taken &= linked; /* recovery gives back what nobody links */
        REQUIRE(!linked || taken);
        REQUIRE(linked || !taken || HOW == USED_TWICE || HOW == ONE_FENCE || HOW == UNFLUSHED_BITMAP);
    }
}

PROGRAM

/* A free list: its head leaves a block before the block is used, and comes back to it when nobody uses it any more. */
#include "pool.h"
enum { RIGHT, POPPED_LATE, ONE_FENCE, PUSHED_EARLY, NEXT_OVERWRITTEN };

struct pool {
    LINE word free; /* a block's number, 0 for none */
    LINE word used;
    struct {
        LINE word next;
        word contents;
    } blocks[4];
};

static void pop(struct pool *p, uint64_t block) {
    p->free = p->blocks[block].next; /* BUG: POPPED_LATE ONE_FENCE */
    flush(&p->free);
    if (HOW != ONE_FENCE) fence();
}

static void use(struct pool *p, uint64_t block) {
    p->used = block; /* BUG: POPPED_LATE ONE_FENCE PUSHED_EARLY */
    persist(&p->used, 8);
}

static void push(struct pool *p, uint64_t block) {
    p->blocks[block].next = p->free;
    persist(&p->blocks[block], 8);
    p->free = block; /* BUG: PUSHED_EARLY */
    persist(&p->free, 8);
}

static void run(struct pool *p) {
    for (int i = 1; i < 4; i++) p->blocks[i].next = i == 3 ? 0 : i + 1;
    p->free = 1;
    persist(p, sizeof *p);
    STRANDLINE_REGION_BEGIN();
    uint64_t block = p->free;
    if (HOW == NEXT_OVERWRITTEN) {
        p->blocks[block].contents = 9;
        uint64_t next = p->blocks[block].next;
        p->blocks[block].next = 99; /* BUG: NEXT_OVERWRITTEN */
        persist(&p->blocks[block], 16);
        p->free = next; /* BUG: NEXT_OVERWRITTEN */
        persist(&p->free, 8);
        return;
    }
    if (HOW != POPPED_LATE) pop(p, block);
    use(p, block);
    if (HOW == POPPED_LATE) pop(p, block);
    if (HOW == PUSHED_EARLY) push(p, block);
    use(p, 0);
    if (HOW != PUSHED_EARLY) push(p, block);
}

static void check(struct pool *p) {
    for (uint64_t at = p->free; at != 0; at = p->blocks[at].next) REQUIRE(at < 4 && at != p->used);
}

PROGRAM

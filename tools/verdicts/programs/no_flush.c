/* "sync" is a fence alone, as programs for eADR have it: right where caches are durable, wrong where they are not. */
#include "pool.h"
enum { RIGHT, EADR, NO_FENCE_EITHER };

struct pool {
    LINE word block[8];
    LINE word done;
};

static void sync_all(word *at, size_t bytes) {
    if (HOW == RIGHT) flush_all(at, bytes);
    if (HOW != NO_FENCE_EITHER) fence(); /* MAY */
}

static void run(struct pool *p) {
    for (int i = 0; i < 8; i++) p->block[i] = i + 1; /* BUG */
    sync_all(p->block, 64);
    p->done = 1; /* BUG */
    sync_all(&p->done, 8);
}

static void check(struct pool *p) {
    REQUIRE(!p->done || p->block[3] == 4);
}

PROGRAM

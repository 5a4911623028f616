/* Copy on write: a page is copied and changed, then the root switches to it. The old page may be used again afterwards. */
#include "pool.h"
enum { RIGHT, ONE_LINE_ROOT, SWITCHED_FIRST, ONE_FENCE, OLD_REUSED };

struct pool {
    LINE word root; /* 1 or 2 */
    word epoch;
    struct {
        LINE word words[16];
    } pages[3];
};

static void fill(struct pool *p, int page, uint64_t value) {
    for (int i = 0; i < 16; i++) p->pages[page].words[i] = value; /* BUG: SWITCHED_FIRST ONE_FENCE OLD_REUSED */
    flush_all(&p->pages[page], sizeof p->pages[page]);
    if (HOW != ONE_FENCE) fence();
}

static void switch_to(struct pool *p, int page) {
    if (HOW == ONE_LINE_ROOT) p->epoch += 1;
    p->root = page; /* BUG: SWITCHED_FIRST OLD_REUSED */
    flush(&p->root);
    if (HOW != OLD_REUSED) fence();
}

static void run(struct pool *p) {
    for (int round = 0; round < 3; round++) {
        int page = 1 + round % 2;
        if (HOW == SWITCHED_FIRST) switch_to(p, page);
        fill(p, page, round + 1);
        if (HOW != SWITCHED_FIRST) switch_to(p, page);
    }
    if (HOW == OLD_REUSED) fence();
}

static void check(struct pool *p) {
    for (int i = 1; p->root && i < 16; i++) REQUIRE(p->pages[p->root].words[i] == p->pages[p->root].words[0]);
    REQUIRE(!p->root || p->pages[p->root].words[0]);
}

PROGRAM

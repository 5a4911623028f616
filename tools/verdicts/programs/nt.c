/* Non-temporal stores need no flush. They need a fence, under eADR too: a write-combining buffer is no cache. */
#include "pool.h"
enum { RIGHT, LOCKED, PLAIN_BEHIND, NO_FENCE, FLUSHED_ONLY, ACKNOWLEDGED };

struct pool {
    LINE word entry[4];
    LINE word flag;
    LINE word own;
};

static void run(struct pool *p) {
    STRANDLINE_TASK_BEGIN();
    for (int i = 0; i < 4; i++) store_nt(&p->entry[i], i + 1); /* BUG: NO_FENCE ACKNOWLEDGED FLUSHED_ONLY */
    if (HOW == FLUSHED_ONLY) flush(p->entry);                  /* MAY */
    if (HOW == RIGHT) fence();
    if (HOW == LOCKED) {
        uint64_t here = 0;
        __atomic_fetch_add(&here, 1, __ATOMIC_SEQ_CST);
    }
    if (HOW == PLAIN_BEHIND) {
        p->own = 5; /* in the fence's other business */
        flush(&p->own);
        fence();
    }
    if (HOW != ACKNOWLEDGED) {
        p->flag = 1;
        persist(&p->flag, 8);
    }
    STRANDLINE_TASK_END();
}

static void check(struct pool *p) {
    int told = HOW == ACKNOWLEDGED ? acknowledged(0) > 0 : p->flag != 0;
    for (int i = 0; told && i < 4; i++) REQUIRE(p->entry[i] == (uint64_t)i + 1);
}

PROGRAM

/* Records are flushed by batches of four, with one fence a batch, and counted behind it. */
#include "pool.h"
enum { RIGHT, EACH, NO_TAIL, COUNTED_EARLY };

struct pool {
    LINE word count;
    struct { LINE word value; } records[6];
};

static void counted(struct pool *p, int count) {
    p->count = count; /* MAY */
    persist(&p->count, 8);
}

static void run(struct pool *p) {
    for (int i = 0; i < 6; i++) {
        p->records[i].value = i + 1; /* BUG: NO_TAIL COUNTED_EARLY */
        if (HOW != NO_TAIL || i < 4) flush(&p->records[i]);
        if (HOW == EACH) fence();
        if (HOW == EACH) counted(p, i + 1);
        if (HOW == COUNTED_EARLY) p->count = i + 1;
        if (HOW != EACH && i == 3) fence();
        if ((HOW == RIGHT || HOW == NO_TAIL) && i == 3) counted(p, 4);
        if (HOW == COUNTED_EARLY && i == 3) persist(&p->count, 8);
    }
    if (HOW == RIGHT) fence();
    if (HOW == RIGHT || HOW == NO_TAIL || HOW == COUNTED_EARLY) counted(p, 6);
}

static void check(struct pool *p) {
    for (uint64_t i = 0; i < p->count; i++) REQUIRE(p->records[i].value == i + 1);
}

PROGRAM

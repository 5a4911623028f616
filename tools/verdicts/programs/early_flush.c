/* A line is written once more behind its flush. */
#include "pool.h"
enum { RIGHT, TWICE, EARLY, BETWEEN };

struct pool {
    LINE word first;
    word last;
    LINE word valid;
};

static void run(struct pool *p) {
    p->first = 7;
    if (HOW == RIGHT) p->last = 8;
    if (HOW != BETWEEN) flush(&p->first);
    if (HOW == BETWEEN) persist(&p->first, 8);
    if (HOW != RIGHT) p->last = 8; /* BUG: EARLY BETWEEN */
    if (HOW == TWICE) flush(&p->last);
    if (HOW != BETWEEN) fence(); /* the last store is behind its flush */
    p->valid = 1;
    persist(&p->valid, 8);
}

static void check(struct pool *p) {
    REQUIRE(!p->valid || (p->first == 7 && p->last == 8));
}

PROGRAM

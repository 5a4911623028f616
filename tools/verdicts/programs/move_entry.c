/* An entry moves to another bucket. It may be in both after a crash, if recovery knows that; never in neither. */
#include "pool.h"
enum { RIGHT, LOGGED, DELETED_FIRST, ONE_FENCE, TWICE_COUNTED };

struct pool {
    LINE word log;
    struct {
        LINE word key;
    } buckets[2];
};

static void delete(struct pool *p) {
    p->buckets[0].key = 0; /* BUG */
    persist(&p->buckets[0], 8);
}

static void run(struct pool *p) {
    p->buckets[0].key = 7;
    persist(&p->buckets[0], 8);
    STRANDLINE_REGION_BEGIN();
    if (HOW == LOGGED) p->log = 7;
    if (HOW == LOGGED) persist(&p->log, 8);
    if (HOW == DELETED_FIRST || HOW == LOGGED) delete(p);
    p->buckets[1].key = 7; /* BUG */
    flush(&p->buckets[1]);
    if (HOW != ONE_FENCE) fence();
    if (HOW != DELETED_FIRST && HOW != LOGGED) delete(p);
    if (HOW == LOGGED) p->log = 0;
    if (HOW == LOGGED) persist(&p->log, 8);
}

static void check(struct pool *p) {
    if (HOW == LOGGED && p->log) p->buckets[1].key = p->log, p->buckets[0].key = 0;
    if (HOW != TWICE_COUNTED && p->buckets[0].key == p->buckets[1].key) p->buckets[0].key = 0;
    REQUIRE((p->buckets[0].key == 7) + (p->buckets[1].key == 7) == 1);
}

PROGRAM

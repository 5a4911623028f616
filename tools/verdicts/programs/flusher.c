/* One thread stores, another flushes for it. A fence orders the flushes of its own thread alone, and an acknowledgement waits
 * for it. */
#include "pool.h"
enum { RIGHT, OWN_FENCE, FENCED_BY_OTHER, NOT_WAITED_FOR };

struct pool {
    LINE word value;
    LINE word flag;
};

static volatile int stored, flushed;

static void *owner(void *at) {
    struct pool *p = at;
    p->value = 7; /* BUG */
    if (HOW == OWN_FENCE) persist(&p->value, 8);
    if (HOW == FENCED_BY_OTHER) flush(&p->value);
    stored = 1;
    while (HOW != NOT_WAITED_FOR && !flushed) {}
    p->flag = 1;
    persist(&p->flag, 8);
    return NULL;
}

static void *helper(void *at) {
    struct pool *p = at;
    while (!stored) {}
    if (HOW == RIGHT || HOW == NOT_WAITED_FOR) persist(&p->value, 8);
    if (HOW == FENCED_BY_OTHER) fence(); /* MAY */
    flushed = 1;
    return NULL;
}

static void run(struct pool *p) {
    both(owner, helper, p);
}

static void check(struct pool *p) {
    REQUIRE(!p->flag || p->value == 7);
}

PROGRAM

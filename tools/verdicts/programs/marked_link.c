/* Link and persist, two threads: a mark in a link says that it may not be durable yet. Who meets the mark flushes the link. */
#include "pool.h"
enum { RIGHT, ALWAYS_FLUSHES, IGNORES_MARK, MARK_REMOVED_EARLY };
#define MARK (1ull << 63)

struct pool {
    LINE word link;
    LINE word seen;
};

static void *writer(void *at) {
    struct pool *p = at;
    uint64_t before = 0, marked = 5 | MARK;
    __atomic_compare_exchange_n(&p->link, &before, marked, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); /* BUG: IGNORES_MARK */
    if (HOW != MARK_REMOVED_EARLY) persist(&p->link, 8);
    if (HOW == IGNORES_MARK) return NULL; /* some later operation removes the mark */
    __atomic_compare_exchange_n(&p->link, &marked, 5, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); /* BUG: MARK_REMOVED_EARLY */ /* MAY */
    if (HOW == MARK_REMOVED_EARLY) persist(&p->link, 8);
    return NULL;
}

static void *reader(void *at) {
    struct pool *p = at;
    uint64_t found;
    while ((found = p->link) == 0 || (HOW == MARK_REMOVED_EARLY && found & MARK)) {} /* AUDIT: IGNORES_MARK MARK_REMOVED_EARLY */
    if (HOW == ALWAYS_FLUSHES || (HOW != IGNORES_MARK && found & MARK)) persist(&p->link, 8);
    p->seen = found & ~MARK; /* BUG: IGNORES_MARK MARK_REMOVED_EARLY */
    persist(&p->seen, 8);
    return NULL;
}

static void run(struct pool *p) {
    both(reader, writer, p);
}

static void check(struct pool *p) {
    REQUIRE(!p->seen || (p->link & ~MARK) == p->seen);
}

PROGRAM

/* Threads count in a word of their own or in a shared one; a task is acknowledged when its count is durable. */
#include "pool.h"
enum { RIGHT, SHARED, PADDED_APART, SHARED_EARLY, OWN_EARLY };

struct pool {
    LINE word shared;
    LINE word own[2];
    LINE word apart[16];
};

static void count(struct pool *p, int number) {
    word *own = HOW == PADDED_APART ? &p->apart[8 * number] : &p->own[number];
    for (int i = 0; i < 3; i++) {
        STRANDLINE_TASK_BEGIN();
        if (HOW == SHARED || HOW == SHARED_EARLY) __atomic_fetch_add(&p->shared, 1, __ATOMIC_ACQ_REL); /* BUG: SHARED_EARLY */
        else *own += 1; /* BUG: OWN_EARLY */
        if (HOW == SHARED) persist(&p->shared, 8);
        if (HOW == RIGHT || HOW == PADDED_APART) persist(own, 8);
        STRANDLINE_TASK_END();
        if (HOW == SHARED_EARLY) persist(&p->shared, 8);
        if (HOW == OWN_EARLY) persist(own, 8);
    }
}

static void *first(void *at) {
    count(at, 0);
    return NULL;
}

static void *second(void *at) {
    count(at, 1);
    return NULL;
}

static void run(struct pool *p) {
    both(first, second, p);
}

static void check(struct pool *p) {
    REQUIRE(p->shared + p->own[0] + p->own[1] + p->apart[0] + p->apart[8] >= acknowledged(0) + acknowledged(1) + acknowledged(2));
}

PROGRAM

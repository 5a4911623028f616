/* A task says that it is done. What it did must be durable by then. */
#include "pool.h"
enum { RIGHT, MFENCE, EARLY, NEVER_FENCED, AT_EXIT };

struct pool {
    struct { LINE word value; } slots[4];
};

static void leave(void) {
    fence();
}

static void run(struct pool *p) {
    if (HOW == AT_EXIT) atexit(leave);
    for (int i = 0; i < 4; i++) {
        STRANDLINE_TASK_BEGIN();
        p->slots[i].value = 1; /* BUG */
        if (HOW != EARLY) flush(&p->slots[i]); /* AUDIT: NEVER_FENCED AT_EXIT */
        if (HOW == RIGHT) fence();
        if (HOW == MFENCE) __asm__ volatile("mfence" ::: "memory");
        STRANDLINE_TASK_END();
        if (HOW == EARLY) persist(&p->slots[i], 8);
    }
}

static void check(struct pool *p) {
    for (uint64_t i = 0; i < acknowledged(0); i++) REQUIRE(p->slots[i].value == 1);
}

PROGRAM

/* The run ends with a recovery, so that crash states of the run are those within one. */
#include "pool.h"
enum { RIGHT, ADDS, CLEARED_FIRST };

struct pool {
    LINE word pending;
    LINE word total;
};

static void recover(struct pool *p) {
    uint64_t pending = p->pending;
    if (pending == 0) return;
    if (HOW == CLEARED_FIRST) p->pending = 0; /* BUG: CLEARED_FIRST */
    if (HOW == CLEARED_FIRST) persist(&p->pending, 8);
    p->total = HOW == ADDS ? p->total + pending : 130; /* BUG */
    persist(&p->total, 8);
    if (HOW != CLEARED_FIRST) p->pending = 0; /* BUG: ADDS */
    if (HOW != CLEARED_FIRST) persist(&p->pending, 8);
}

static void run(struct pool *p) {
    p->total = 100;
    persist(&p->total, 8);
    p->pending = 30;
    persist(&p->pending, 8);
    STRANDLINE_TASK_BEGIN();
    STRANDLINE_TASK_END();
    recover(p);
}

static void check(struct pool *p) {
    recover(p);
    REQUIRE(p->total == 130 || (acknowledged(0) == 0 && p->total <= 100));
}

PROGRAM

/* Recovery applies a redo record, and may crash itself: it must do the same when it runs again. */
#include "pool.h"
enum { RIGHT, LOCKED_STEP, ADDS, CLEARED_FIRST, UNFLUSHED, UNFENCED };

struct pool {
    LINE word pending; /* what the total becomes; in ADDS, what is added */
    LINE word total;
};

static void recover(struct pool *p) {
    if (p->pending == 0) return;
    uint64_t pending = p->pending;
    if (HOW == CLEARED_FIRST) p->pending = 0; /* BUG: CLEARED_FIRST */
    if (HOW == CLEARED_FIRST) persist(&p->pending, 8);
    if (HOW == ADDS) p->total += pending; /* BUG: ADDS */
    else p->total = pending;              /* BUG: CLEARED_FIRST UNFLUSHED UNFENCED */
    if (HOW == LOCKED_STEP) flush(&p->total);
    if (HOW == RIGHT || HOW == ADDS || HOW == CLEARED_FIRST) persist(&p->total, 8);
    if (HOW == UNFENCED) flush(&p->total);
    if (HOW == LOCKED_STEP) __atomic_exchange_n(&p->pending, 0, __ATOMIC_ACQ_REL);
    else if (HOW != CLEARED_FIRST) p->pending = 0; /* MAY */
    if (HOW != CLEARED_FIRST) persist(&p->pending, 8);
}

static void run(struct pool *p) {
    p->total = 100;
    persist(&p->total, 8);
    STRANDLINE_REGION_BEGIN();
    STRANDLINE_TASK_BEGIN();
    p->pending = HOW == ADDS ? 30 : 130;
    persist(&p->pending, 8);
    STRANDLINE_TASK_END();
}

static void check(struct pool *p) {
    REQUIRE(p->total == (acknowledged(0) ? 130 : p->total == 100 ? 100 : 130));
}

PROGRAM_WITH(recover, run)

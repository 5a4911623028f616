/* A transaction moves an amount between two accounts under an undo log. What is logged, when, and when the log is cleared. */
#include "undo.h"
enum { RIGHT, BATCHED, UNLOGGED, LOGGED_AFTER, CLEARED_UNFLUSHED, CLEARED_UNFENCED, CLEARED_EARLY, WRONG_WORD };

struct pool {
    struct log log;
    LINE word ready;
    LINE word from;
    LINE word to;
};

static void run(struct pool *p) {
    p->from = 100;
    persist(&p->from, 8);
    p->ready = 1;
    persist(&p->ready, 8);
    STRANDLINE_REGION_BEGIN();
    if (HOW != LOGGED_AFTER) save(&p->log, p, &p->from);
    if (HOW == WRONG_WORD) save(&p->log, p, &p->ready);
    else if (HOW != UNLOGGED && HOW != LOGGED_AFTER) save(&p->log, p, &p->to);
    if (HOW == CLEARED_EARLY) commit(&p->log);
    p->from -= 30; /* BUG: LOGGED_AFTER CLEARED_UNFLUSHED CLEARED_UNFENCED CLEARED_EARLY */
    if (HOW == LOGGED_AFTER) save_as(&p->log, p, &p->from, 100);
    if (HOW == LOGGED_AFTER) save(&p->log, p, &p->to);
    if (HOW != BATCHED && HOW != CLEARED_UNFLUSHED) flush(&p->from);
    p->to += 30; /* BUG: UNLOGGED CLEARED_UNFLUSHED CLEARED_UNFENCED CLEARED_EARLY WRONG_WORD */
    if (HOW != CLEARED_UNFLUSHED) flush(&p->to);
    if (HOW == BATCHED) flush(&p->from);
    if (HOW != CLEARED_UNFLUSHED && HOW != CLEARED_UNFENCED) fence();
    if (HOW != CLEARED_EARLY) commit(&p->log);
}

static void check(struct pool *p) {
    undo(&p->log, p);
    REQUIRE(!p->ready || p->from + p->to == 100);
}

PROGRAM

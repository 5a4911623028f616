/* Work is durable by epochs: the epoch's number moves on when all of its work is durable. Recovery drops what is younger. */
#include "pool.h"
enum { RIGHT, EARLY, LAST_MISSED, NOT_DROPPED };

struct pool {
    LINE word epoch; /* durable up to here */
    struct {
        LINE word before;
        word born, value;
    } cells[2];
};

static void work(struct pool *p, uint64_t epoch) {
    for (int i = 0; i < 2; i++) {
        p->cells[i].before = p->cells[i].value; /* BUG: LAST_MISSED */
        p->cells[i].born = epoch; /* BUG: LAST_MISSED */
        p->cells[i].value = epoch; /* BUG */
        if (HOW != LAST_MISSED || i < 1) flush(&p->cells[i]);
    }
    if (HOW != EARLY) fence();
    p->epoch = epoch; /* BUG: EARLY */
    persist(&p->epoch, 8);
}

static void run(struct pool *p) {
    for (uint64_t epoch = 1; epoch < 4; epoch++) work(p, epoch);
}

static void check(struct pool *p) {
    for (int i = 0; i < 2; i++) {
        if (HOW != NOT_DROPPED && p->cells[i].born > p->epoch) p->cells[i].value = p->cells[i].before;
        REQUIRE(p->cells[i].value == p->epoch);
    }
}

PROGRAM

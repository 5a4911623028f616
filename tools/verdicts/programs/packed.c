/* Several small fields are changed by one store of their word, or each by one of its own. */
#include "pool.h"
enum { RIGHT, LOCKED_OR, XCHG, NT, BY_BYTES };

struct pool {
    LINE union {
        word all;
        volatile uint8_t bytes[8]; /* 0: used, 1: dirty; one without the other is wrong */
    } state;
};

static void run(struct pool *p) {
    if (HOW == RIGHT) p->state.all = 0x0101;
    if (HOW == LOCKED_OR) __atomic_fetch_or(&p->state.all, 0x0101, __ATOMIC_ACQ_REL);
    if (HOW == XCHG) __atomic_exchange_n(&p->state.all, 0x0101, __ATOMIC_ACQ_REL);
    if (HOW == NT) store_nt(&p->state.all, 0x0101);
    if (HOW == BY_BYTES) p->state.bytes[0] = 1; /* BUG */
    if (HOW == BY_BYTES) p->state.bytes[1] = 1; /* BUG */
    if (HOW == NT) fence();
    else persist(&p->state, 8);
}

static void check(struct pool *p) {
    REQUIRE(p->state.bytes[0] == p->state.bytes[1]);
}

PROGRAM

/* A lock-free stack whose head is changed by a locked instruction. The head is data, whatever instruction writes it. */
#include "pool.h"
enum { RIGHT, BY_ADD, LINK_AND_PERSIST, CAS_UNFLUSHED, ADD_UNFLUSHED, PLAIN_UNFLUSHED, XCHG_UNFLUSHED, NODE_UNFLUSHED };

struct pool {
    LINE word head;
    struct {
        LINE word key;
        word next;
    } nodes[6];
};

static void put_head(struct pool *p, uint64_t number) {
    uint64_t before = number - 1, marked = number | 1ull << 63;
    if (HOW == BY_ADD || HOW == ADD_UNFLUSHED) {
        __atomic_fetch_add(&p->head, 1, __ATOMIC_ACQ_REL); /* BUG: ADD_UNFLUSHED */
    } else if (HOW == XCHG_UNFLUSHED) {
        __atomic_exchange_n(&p->head, number, __ATOMIC_ACQ_REL); /* BUG: XCHG_UNFLUSHED */
    } else if (HOW == PLAIN_UNFLUSHED) {
        p->head = number; /* BUG: PLAIN_UNFLUSHED */
    } else if (HOW == LINK_AND_PERSIST) {
        __atomic_compare_exchange_n(&p->head, &before, marked, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    } else {
        __atomic_compare_exchange_n(&p->head, &before, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); /* BUG: CAS_UNFLUSHED */
    }
    if (HOW == RIGHT || HOW == BY_ADD || HOW == LINK_AND_PERSIST || HOW == NODE_UNFLUSHED) persist(&p->head, 8);
    if (HOW == LINK_AND_PERSIST) { /* the mark says that it may not be durable; its removal need not be */
        __atomic_compare_exchange_n(&p->head, &marked, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE); /* MAY */
    }
}

APART void push(struct pool *p, uint64_t number) {
    p->nodes[number].key = 10 + number; /* BUG: NODE_UNFLUSHED */
    p->nodes[number].next = number - 1; /* BUG: NODE_UNFLUSHED */
    if (HOW != NODE_UNFLUSHED) persist(&p->nodes[number], 16);
    put_head(p, number);
}

static void run(struct pool *p) {
    for (int i = 1; i < 5; i++) push(p, i);
}

static void check(struct pool *p) {
    uint64_t found = 0;
    for (uint64_t at = p->head & ~(1ull << 63); at; at = p->nodes[at].next) {
        REQUIRE(at < 6 && p->nodes[at].key == 10 + at);
        found++;
    }
    REQUIRE(found >= acknowledged(0));
}

PROGRAM

/* A lock-free queue of two threads: a link makes a node visible, and is durable before it is acknowledged. */
#include "pool.h"
enum { RIGHT, TAIL_IN_POOL, LINK_UNFLUSHED, NODE_LATE };

struct pool {
    LINE word tail; /* found anew by recovery: TAIL_IN_POOL */
    struct {
        LINE word value;
        word next;
    } nodes[8];
};

static word tail;

static word *tail_of(struct pool *p) {
    return HOW == TAIL_IN_POOL ? &p->tail : &tail;
}

static void enqueue(struct pool *p, uint64_t number) {
    STRANDLINE_TASK_BEGIN();
    p->nodes[number].value = 10 + number; /* BUG: NODE_LATE */
    if (HOW != NODE_LATE) persist(&p->nodes[number], 16);
    for (;;) {
        uint64_t last = *tail_of(p), none = 0;
        if (__atomic_compare_exchange_n(&p->nodes[last].next, &none, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) { /* BUG: LINK_UNFLUSHED */
            if (HOW != LINK_UNFLUSHED) persist(&p->nodes[last].next, 8);
            __atomic_compare_exchange_n(tail_of(p), &last, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
            break;
        }
        if (HOW != LINK_UNFLUSHED) persist(&p->nodes[last].next, 8); /* helps before it moves the tail */
        __atomic_compare_exchange_n(tail_of(p), &last, none, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    if (HOW == NODE_LATE) persist(&p->nodes[number], 16);
    STRANDLINE_TASK_END();
}

static void *first(void *at) {
    for (int i = 1; i < 4; i++) enqueue(at, i);
    return NULL;
}

static void *second(void *at) {
    for (int i = 4; i < 7; i++) enqueue(at, i);
    return NULL;
}

static void run(struct pool *p) {
    both(first, second, p);
}

static void check(struct pool *p) {
    uint64_t found = 0;
    for (uint64_t at = p->nodes[0].next; at; at = p->nodes[at].next) {
        REQUIRE(p->nodes[at].value == 10 + at);
        found++;
    }
    REQUIRE(found >= acknowledged(0) + acknowledged(1) + acknowledged(2));
}

PROGRAM

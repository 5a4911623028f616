/* A queue in a ring: an item is written, then the tail moves over it; the head moves over what is consumed. */
#include "pool.h"
enum { RIGHT, XCHG_TAIL, TAIL_FIRST, ONE_FENCE, OVERWRITTEN, HEAD_UNFLUSHED };

struct pool {
    LINE word head;
    LINE word tail;
    struct {
        LINE word item;
    } slots[2];
};

static void put_tail(struct pool *p, uint64_t tail) {
    if (HOW == XCHG_TAIL) __atomic_exchange_n(&p->tail, tail, __ATOMIC_ACQ_REL);
    else p->tail = tail; /* BUG: TAIL_FIRST ONE_FENCE */
    flush(&p->tail);
    if (HOW != ONE_FENCE) fence();
}

static void enqueue(struct pool *p, uint64_t number) {
    if (HOW == TAIL_FIRST) put_tail(p, number + 1);
    p->slots[number % 2].item = 100 + number; /* BUG: TAIL_FIRST ONE_FENCE OVERWRITTEN HEAD_UNFLUSHED */
    flush(&p->slots[number % 2]);
    if (HOW != ONE_FENCE) fence();
    if (HOW != TAIL_FIRST) put_tail(p, number + 1);
    if (HOW == ONE_FENCE) fence();
}

static void dequeue(struct pool *p, uint64_t number) {
    p->head = number + 1; /* BUG: HEAD_UNFLUSHED */
    if (HOW != HEAD_UNFLUSHED) persist(&p->head, 8);
}

static void run(struct pool *p) {
    enqueue(p, 0);
    enqueue(p, 1);
    if (HOW == OVERWRITTEN) enqueue(p, 2); /* the ring is full */
    dequeue(p, 0);
    if (HOW != OVERWRITTEN) enqueue(p, 2);
}

static void check(struct pool *p) {
    REQUIRE(p->tail - p->head <= 2);
    for (uint64_t i = p->head; i < p->tail; i++) REQUIRE(p->slots[i % 2].item == 100 + i);
}

PROGRAM

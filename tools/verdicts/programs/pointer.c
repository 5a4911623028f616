/* A pointer in persistent memory: to the pool by its offset, or to memory that a crash takes. */
#include "pool.h"
enum { RIGHT, CLEARED_AT_OPEN, TO_HEAP, TO_STACK, ADDRESS };

struct pool {
    LINE word offset;
    LINE word *volatile pointer;
    LINE word value;
};

static void run(struct pool *p) {
    word here = 5, *heap = malloc(8);
    *heap = 5;
    p->value = 5;
    persist(&p->value, 8);
    if (HOW == RIGHT) p->offset = (uint64_t)((char *)&p->value - (char *)p);
    if (HOW == RIGHT) persist(&p->offset, 8);
    if (HOW == TO_HEAP || HOW == CLEARED_AT_OPEN) p->pointer = heap; /* BUG: TO_HEAP */
    if (HOW == TO_STACK) p->pointer = &here; /* BUG: TO_STACK */
    if (HOW == ADDRESS) p->pointer = &p->value; /* BUG: ADDRESS */
    if (HOW != RIGHT) persist(&p->pointer, 8);
}

static void check(struct pool *p) {
    if (HOW == RIGHT) REQUIRE(!p->offset || *(word *)((char *)p + p->offset) == 5);
    else if (HOW == CLEARED_AT_OPEN) p->pointer = NULL;
    else REQUIRE(!p->pointer || *p->pointer == 5);
}

PROGRAM

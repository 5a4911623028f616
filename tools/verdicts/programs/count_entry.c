/* A log counts its entries. */
#include "pool.h"
enum { RIGHT, SELF_VALID, COUNT_FIRST, ONE_FENCE, COUNT_VOLATILE };

struct pool {
    LINE word count;
    struct {
        LINE word value;
        word seal; /* behind the value, in its line: SELF_VALID needs no count */
    } entries[4];
};

static void append(struct pool *p, uint64_t number) {
    STRANDLINE_TASK_BEGIN();
    if (HOW == COUNT_FIRST) p->count = number + 1; /* BUG: COUNT_FIRST */
    if (HOW == COUNT_FIRST) persist(&p->count, 8);
    p->entries[number].value = 10 + number; /* BUG: COUNT_FIRST ONE_FENCE */
    p->entries[number].seal = ~(10 + number);
    flush(&p->entries[number]);
    if (HOW != ONE_FENCE) fence();
    if (HOW == RIGHT || HOW == ONE_FENCE) p->count = number + 1;
    if (HOW == COUNT_VOLATILE) p->count = number + 1; /* BUG: COUNT_VOLATILE */
    if (HOW == RIGHT || HOW == ONE_FENCE) persist(&p->count, 8);
    STRANDLINE_TASK_END();
}

static void run(struct pool *p) {
    for (int i = 0; i < 4; i++) append(p, i);
}

static void check(struct pool *p) {
    uint64_t count = p->count;
    if (HOW == SELF_VALID) for (count = 0; count < 4 && p->entries[count].value == ~p->entries[count].seal; count++) {}
    REQUIRE(count >= acknowledged(0));
    for (uint64_t i = 0; i < count; i++) REQUIRE(p->entries[i].value == 10 + i);
}

PROGRAM

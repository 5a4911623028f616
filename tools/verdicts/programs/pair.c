/* Two words must agree. Eight aligned bytes are atomic, no more. */
#include "pool.h"
enum { RIGHT, DOUBLE, TWO_WORDS, TWO_LINES, SIXTEEN, CMPXCHG16B, CROSSING };

struct pair {
    word low, high; /* a number and its complement */
};

struct pool {
    LINE struct pair pair;
    word which; /* of the copies; its line is that of no copy */
    LINE struct pair copies[2][4];
    LINE char bytes[128];
};

static void update(struct pool *p, uint64_t number) {
    if (HOW == RIGHT) {
        p->pair.low = number << 32 | (uint32_t)~number;
    } else if (HOW == DOUBLE) {
        struct pair *copy = p->copies[1 - p->which];
        copy->low = number;
        copy->high = ~number;
        persist(copy, sizeof *copy);
        p->which = 1 - p->which;
        persist(&p->which, 8);
        return;
    } else if (HOW == SIXTEEN) {
        __asm__ volatile("movq %1, %%xmm0; pinsrq $1, %2, %%xmm0; movdqa %%xmm0, %0" : "=m"(p->pair) : "r"(number), "r"(~number) : "xmm0"); /* BUG: SIXTEEN */
    } else if (HOW == CMPXCHG16B) {
        uint64_t low = p->pair.low, high = p->pair.high;
        __asm__ volatile("lock cmpxchg16b %0" : "+m"(p->pair), "+a"(low), "+d"(high) : "b"(number), "c"(~number) : "memory"); /* BUG: CMPXCHG16B */
    } else if (HOW == CROSSING) {
        *(word *)(p->bytes + 60) = number << 32 | (uint32_t)~number; /* BUG: CROSSING */
        persist(p->bytes, sizeof p->bytes);
        return;
    } else {
        p->pair.low = number; /* BUG: TWO_WORDS TWO_LINES */
        if (HOW == TWO_WORDS) p->pair.high = ~number; /* BUG: TWO_WORDS */
        if (HOW == TWO_LINES) p->copies[0][0].high = ~number; /* BUG: TWO_LINES */
        if (HOW == TWO_LINES) flush(p->copies);
    }
    persist(&p->pair, sizeof p->pair);
}

static void run(struct pool *p) {
    for (int number = 1; number < 4; number++) update(p, number);
}

static void check(struct pool *p) {
    uint64_t packed = HOW == CROSSING ? *(word *)(p->bytes + 60) : p->pair.low;
    struct pair pair = HOW == DOUBLE ? (struct pair){p->copies[p->which]->low, p->copies[p->which]->high} : (struct pair){p->pair.low, p->pair.high};
    if (HOW == TWO_LINES) pair.high = p->copies[0][0].high;
    if (HOW == RIGHT || HOW == CROSSING) REQUIRE(packed == 0 || (uint32_t)packed == (uint32_t)~(packed >> 32));
    else REQUIRE((pair.low == 0 && pair.high == 0) || pair.high == ~pair.low);
}

PROGRAM

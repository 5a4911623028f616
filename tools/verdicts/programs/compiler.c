/* The value is stored before the flag in the source. Without a bound the compiler sees two stores to the value and drops the
 * first. Both words are in one line, so the processor would keep their order. */
#include "pool.h"
enum { RIGHT, REORDERED };

struct pool {
    LINE uint64_t value;
    uint64_t unused; /* or one store of 16 bytes writes both */
    uint64_t valid;
};

static void bound(void) {
    if (HOW == RIGHT) __asm__ volatile("" ::: "memory");
}

static void run(struct pool *p) {
    p->value = 7;
    bound();
    p->valid = 1; /* BUG */
    bound();
    p->value = 8; /* MAY */
    persist(p, sizeof *p);
}

static void check(struct pool *p) {
    REQUIRE(!p->valid || p->value == 7 || p->value == 8);
}

PROGRAM

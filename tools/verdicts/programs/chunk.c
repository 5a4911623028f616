/* A run of free units is split. Headers are walked from the front, so the new second header must be there before the first
 * one is cut; footers are hints, which recovery makes anew, unless it trusts them. */
#include "pool.h"
enum { RIGHT, FOOTERS_ANEW, FIRST_HEADER_FIRST, ONE_FENCE, FOOTERS_TRUSTED };

struct pool {
    struct unit {
        LINE word size; /* of the run, in its first unit */
        word foot;      /* of the run, in its last unit */
    } units[16];
};

static void head(struct pool *p, int at, int size) {
    p->units[at].size = size; /* BUG: FIRST_HEADER_FIRST ONE_FENCE FOOTERS_TRUSTED */
    flush(&p->units[at]);
    if (HOW != ONE_FENCE) fence();
}

static void foot(struct pool *p, int at, int size) {
    p->units[at + size - 1].foot = size; /* BUG: FOOTERS_TRUSTED */
    persist(&p->units[at + size - 1], 16);
}

static void run(struct pool *p) {
    foot(p, 0, 16);
    p->units[0].size = 16;
    persist(&p->units[0], 16);
    if (HOW == FIRST_HEADER_FIRST) head(p, 0, 4);
    head(p, 4, 12);
    if (HOW != FIRST_HEADER_FIRST) head(p, 0, 4);
    if (HOW == ONE_FENCE) fence();
    if (HOW != RIGHT) foot(p, 0, 4);
    if (HOW != RIGHT) foot(p, 4, 12);
}

static void check(struct pool *p) {
    for (int at = 0; p->units[0].size && at < 16;) {
        uint64_t size = p->units[at].size;
        REQUIRE(size != 0 && at + size <= 16);
        if (HOW == FOOTERS_ANEW) p->units[at + size - 1].foot = size;
        if (HOW == FOOTERS_ANEW || HOW == FOOTERS_TRUSTED) REQUIRE(p->units[at + size - 1].foot == size);
        at += size;
    }
}

PROGRAM

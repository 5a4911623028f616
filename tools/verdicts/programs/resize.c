/* A hash table grows: entries are copied into a new table, then the directory switches to it. */
#include "pool.h"
enum { RIGHT, ONE_FENCE_AT_LAST, SWITCHED_EARLY, UNFLUSHED_TABLE, OLD_CLEARED_EARLY, DEPTH_APART };

struct pool {
    LINE word directory; /* the table, and its depth in the upper half */
    LINE word depth;
    struct {
        LINE word keys[8];
    } tables[2][2];
};

static void copy(struct pool *p) {
    for (int i = 0; i < 8; i++) p->tables[1][i / 4].keys[i % 4] = p->tables[0][0].keys[i]; /* BUG: SWITCHED_EARLY UNFLUSHED_TABLE */
    if (HOW == RIGHT) for (int i = 0; i < 2; i++) persist(&p->tables[1][i], 64);
    else if (HOW != UNFLUSHED_TABLE) persist(p->tables[1], sizeof p->tables[1]);
}

static void turn(struct pool *p) {
    if (HOW == DEPTH_APART) p->depth = 1; /* BUG: DEPTH_APART */
    if (HOW == DEPTH_APART) persist(&p->depth, 8);
    p->directory = 1 | (uint64_t)1 << 32; /* BUG: SWITCHED_EARLY UNFLUSHED_TABLE OLD_CLEARED_EARLY DEPTH_APART */
    if (HOW != OLD_CLEARED_EARLY) persist(&p->directory, 8);
}

static void clear_old(struct pool *p) {
    for (int i = 0; i < 8; i++) p->tables[0][0].keys[i] = 0; /* BUG: OLD_CLEARED_EARLY */
    persist(p->tables[0], 64);
}

static void run(struct pool *p) {
    for (int i = 0; i < 8; i++) p->tables[0][0].keys[i] = i + 1;
    persist(p->tables[0], 64);
    STRANDLINE_REGION_BEGIN();
    if (HOW == SWITCHED_EARLY) turn(p);
    copy(p);
    if (HOW != SWITCHED_EARLY) turn(p);
    clear_old(p);
    if (HOW == OLD_CLEARED_EARLY) persist(&p->directory, 8);
}

static void check(struct pool *p) {
    uint32_t table = (uint32_t)p->directory, depth = HOW == DEPTH_APART ? p->depth : p->directory >> 32;
    for (int i = 0; i < 8; i++) {
        uint64_t key = depth ? p->tables[table][i / 4].keys[i % 4] : p->tables[table][0].keys[i];
        REQUIRE(key == (uint64_t)i + 1);
    }
}

PROGRAM

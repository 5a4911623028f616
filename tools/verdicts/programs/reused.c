/* A block is used again: what it held must be gone durably before a header vouches for the new contents. */
#include "pool.h"
enum { RIGHT, EPOCHS, NOT_CLEARED, CLEARED_UNFLUSHED, CLEARED_LATE };

struct pool {
    LINE word header; /* the epoch whose records the block has */
    struct {
        LINE word valid;
        word key;
    } records[4];
};

static void run(struct pool *p) {
    for (int i = 0; i < 4; i++) {
        p->records[i].key = 100 + i;
        p->records[i].valid = 1;
    }
    p->header = 1;
    persist(p, sizeof *p);
    STRANDLINE_REGION_BEGIN();
    for (int i = 0; i < 4 && HOW != NOT_CLEARED && HOW != CLEARED_LATE && HOW != EPOCHS; i++) {
        p->records[i].valid = 0; /* BUG: CLEARED_UNFLUSHED */
        if (HOW == RIGHT) flush(&p->records[i]);
    }
    if (HOW == RIGHT) fence();
    p->header = 2; /* BUG: NOT_CLEARED CLEARED_LATE */
    persist(&p->header, 8);
    for (int i = 0; i < 4 && HOW == CLEARED_LATE; i++) p->records[i].valid = 0; /* MAY */
    if (HOW == CLEARED_LATE) persist(p->records, sizeof p->records);
    p->records[0].key = 200;
    p->records[0].valid = HOW == EPOCHS ? 2 : 1; /* MAY */
    persist(&p->records[0], 16);
}

static void check(struct pool *p) {
    for (int i = 0; i < 4; i++) {
        uint64_t valid = p->records[i].valid;
        REQUIRE(p->header != 2 || (HOW == EPOCHS ? valid != 2 : !valid) || p->records[i].key >= 200);
    }
}

PROGRAM

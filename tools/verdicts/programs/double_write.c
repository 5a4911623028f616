/* A block is written to a journal first, then home. A crash in the middle of either leaves the other whole. */
#include "pool.h"
enum { RIGHT, NT_JOURNAL, HOME_FIRST, NO_FENCE, VALID_KEPT };

struct pool {
    LINE word journal[8];
    LINE word valid;
    LINE word home[16];
};

static void run(struct pool *p) {
    for (uint64_t round = 1; round < 3; round++) {
        for (int i = 0; i < 16 && HOW == HOME_FIRST; i += 8) p->home[i] = round; /* BUG: HOME_FIRST */
        if (HOW == HOME_FIRST) persist(p->home, sizeof p->home);
        for (int i = 0; i < 2; i++) {
            if (HOW == NT_JOURNAL) store_nt(&p->journal[i], round);
            else p->journal[i] = round; /* BUG: NO_FENCE VALID_KEPT */
        }
        if (HOW != NT_JOURNAL) flush(p->journal);
        if (HOW != NO_FENCE) fence();
        if (HOW != VALID_KEPT || round == 1) p->valid = 1; /* BUG: NO_FENCE */
        if (HOW != VALID_KEPT || round == 1) persist(&p->valid, 8);
        for (int i = 0; i < 16 && HOW != HOME_FIRST; i += 8) p->home[i] = round; /* BUG: NO_FENCE */
        if (HOW != HOME_FIRST) persist(p->home, sizeof p->home);
        if (HOW != VALID_KEPT) p->valid = 0;
        if (HOW != VALID_KEPT) persist(&p->valid, 8);
    }
}

static void check(struct pool *p) {
    for (int i = 0; p->valid && i < 2; i++) p->home[8 * i] = p->journal[i];
    REQUIRE(p->home[0] == p->home[8]);
}

PROGRAM

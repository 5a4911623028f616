/* A record of two lines between two increments of its version: odd means that it is being changed. */
#include "pool.h"
enum { RIGHT, NO_LAST_FENCE, NO_FIRST_FENCE, ODD_LATE };

struct pool {
    LINE word version;
    LINE word left;
    LINE word right;
};

static void step(struct pool *p) {
    p->version += 1; /* BUG: NO_FIRST_FENCE NO_LAST_FENCE */
    flush(&p->version);
}

static void run(struct pool *p) {
    for (uint64_t round = 1; round < 4; round++) {
        if (HOW == ODD_LATE) p->left = round; /* BUG: ODD_LATE */
        step(p);
        if (HOW != NO_FIRST_FENCE) fence();
        if (HOW != ODD_LATE) p->left = round; /* BUG: NO_LAST_FENCE NO_FIRST_FENCE */
        flush(&p->left);
        p->right = round; /* BUG: NO_LAST_FENCE NO_FIRST_FENCE */
        flush(&p->right);
        if (HOW != NO_LAST_FENCE) fence();
        step(p);
        fence();
    }
}

static void check(struct pool *p) {
    REQUIRE(p->version % 2 || p->left == p->right);
}

PROGRAM

/* Insertion by shifting into a sorted line, largest first. Stores of one line persist in order, so that a key is doubled for a
 * while and never lost. A node of two lines needs a flush and a fence where the shift crosses. */
#include "pool.h"
enum { RIGHT, CROSSING_FLUSHED, SMALLEST_FIRST, CROSSING };

struct pool {
    LINE word keys[16]; /* sorted, 0 behind the last; two equal neighbours are one */
};

static void run(struct pool *p) {
    int count = HOW == RIGHT || HOW == SMALLEST_FIRST ? 6 : 10;
    for (int i = 0; i < count; i++) p->keys[i] = 10 * (i + 1);
    persist(p->keys, sizeof p->keys);
    STRANDLINE_REGION_BEGIN();
    if (HOW == SMALLEST_FIRST) {
        uint64_t carried = 25;
        for (int i = 2; i <= count; i++) {
            uint64_t next = p->keys[i];
            p->keys[i] = carried; /* BUG: SMALLEST_FIRST */
            carried = next;
        }
    } else {
        for (int i = count; i > 2; i--) {
            p->keys[i] = p->keys[i - 1]; /* BUG: CROSSING */
            if (HOW == CROSSING_FLUSHED && i == 8) persist(&p->keys[8], 64);
        }
        p->keys[2] = 25;
    }
    persist(p->keys, HOW == CROSSING ? 128 : 64);
}

static void check(struct pool *p) {
    int count = HOW == RIGHT || HOW == SMALLEST_FIRST ? 6 : 10;
    for (int key = 10; key <= 10 * count; key += 10) {
        int found = 0;
        for (int i = 0; i < 16; i++) found |= p->keys[i] == (uint64_t)key;
        REQUIRE(found);
    }
}

PROGRAM

/* A record of two lines with a checksum: one fence is enough if the checksum covers all of it, and a torn record counts as
 * none. */
#include "pool.h"
enum { RIGHT, OF_EACH_LINE, COVERS_HALF, ZERO_IS_RIGHT, NOT_LOOKED_AT };

struct pool {
    struct record {
        LINE word left[7];
        word left_sum;
        word right[7];
        word sum;
    } records[3];
};

static uint64_t sum_of(struct record *r) {
    uint64_t sum = HOW == ZERO_IS_RIGHT ? 0 : 77;
    for (int i = 0; i < 7 && HOW != COVERS_HALF; i++) sum = sum * 31 + r->left[i];
    for (int i = 0; i < 7; i++) sum = sum * 31 + (HOW == OF_EACH_LINE ? 0 : r->right[i]);
    return sum;
}

static uint64_t right_sum(struct record *r) {
    uint64_t sum = 78;
    for (int i = 0; i < 7; i++) sum = sum * 31 + r->right[i];
    return sum;
}

static void run(struct pool *p) {
    for (int number = 0; number < 3; number++) {
        struct record *r = &p->records[number];
        r->left[0] = 10 + number; /* BUG: COVERS_HALF NOT_LOOKED_AT */
        r->right[0] = 20 + number;
        if (HOW == OF_EACH_LINE) r->left_sum = sum_of(r);
        r->sum = HOW == OF_EACH_LINE ? right_sum(r) : sum_of(r);
        persist(r, sizeof *r);
    }
}

static void check(struct pool *p) {
    for (int number = 0; number < 3; number++) {
        struct record *r = &p->records[number];
        int is_there = r->sum == sum_of(r);
        if (HOW == OF_EACH_LINE) is_there = r->left_sum == sum_of(r) && r->sum == right_sum(r);
        if (HOW == NOT_LOOKED_AT) is_there = r->sum != 0;
        REQUIRE(!is_there || (r->left[0] == 10u + number && r->right[0] == 20u + number));
    }
}

PROGRAM

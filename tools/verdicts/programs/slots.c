/* A leaf with a bitmap: a slot is filled, then its bit vouches for it. */
#include "pool.h"
enum { RIGHT, NT_SLOT, BIT_IN_LINE, ONE_FENCE, BIT_FIRST, UPDATED_IN_PLACE };

struct pool {
    LINE word bitmap;
    word near[4]; /* slots beside the bitmap: BIT_IN_LINE */
    LINE struct {
        word key, value; /* value is ten times key */
    } slots[16];
};

static void put_bit(struct pool *p, int slot) {
    p->bitmap |= 1u << slot; /* BUG: ONE_FENCE BIT_FIRST */
    flush(&p->bitmap);
    if (HOW != ONE_FENCE) fence();
}

static void insert(struct pool *p, int slot, uint64_t key) {
    if (HOW == BIT_FIRST) put_bit(p, slot);
    if (HOW == NT_SLOT) {
        store_nt(&p->slots[slot].key, key);
        store_nt(&p->slots[slot].value, 10 * key);
    } else if (HOW == BIT_IN_LINE) {
        p->near[slot] = key;
    } else {
        p->slots[slot].key = key;        /* BUG: ONE_FENCE BIT_FIRST UPDATED_IN_PLACE */
        p->slots[slot].value = 10 * key; /* BUG: ONE_FENCE BIT_FIRST UPDATED_IN_PLACE */
        flush(&p->slots[slot]);
    }
    if (HOW != ONE_FENCE && HOW != BIT_IN_LINE) fence();
    if (HOW != BIT_FIRST) put_bit(p, slot);
    if (HOW == ONE_FENCE) fence();
}

static void run(struct pool *p) {
    for (int i = 0; i < 3; i++) insert(p, HOW == UPDATED_IN_PLACE ? 0 : i, i + 1);
}

static void check(struct pool *p) {
    for (int i = 0; i < 4; i++) {
        if (!(p->bitmap >> i & 1)) continue;
        if (HOW == BIT_IN_LINE) REQUIRE(p->near[i] == (uint64_t)i + 1);
        else REQUIRE(p->slots[i].key && p->slots[i].value == 10 * p->slots[i].key);
    }
}

PROGRAM

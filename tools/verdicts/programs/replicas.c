/* Two checksummed copies of a record of two lines. The second is begun when the first is certainly durable, and not before. */
#include "pool.h"
enum { RIGHT, CACHED, NO_FENCE, CACHED_NO_FENCE, COPY_OF_TORN };

struct record {
    LINE word left;
    LINE word right;
    word sum;
};

struct pool {
    struct record first, second;
};

static void by_nt(struct record *r, uint64_t value) {
    store_nt(&r->left, value);    /* BUG: NO_FENCE */
    store_nt(&r->right, value);   /* BUG: NO_FENCE */
    store_nt(&r->sum, 2 * value); /* BUG: NO_FENCE */
}

static void by_cache(struct record *r, uint64_t value) {
    r->left = value;    /* BUG */
    r->right = value;   /* BUG */
    r->sum = 2 * value; /* BUG */
    flush_all(r, sizeof *r);
}

static void update(struct pool *p, uint64_t value) {
    if (HOW == CACHED || HOW == CACHED_NO_FENCE) by_cache(&p->second, value);
    else if (HOW == COPY_OF_TORN) p->second.left = value; /* BUG: COPY_OF_TORN */
    else by_nt(&p->second, value);
    if (HOW == RIGHT || HOW == CACHED) fence();
    by_cache(&p->first, value);
    if (HOW == COPY_OF_TORN) by_cache(&p->second, value);
    fence();
}

static void run(struct pool *p) {
    update(p, 5);
    update(p, 9);
}

static int is_good(struct record *r) {
    return r->sum == r->left + r->right;
}

static void check(struct pool *p) {
    REQUIRE(is_good(&p->first) || is_good(&p->second));
}

PROGRAM

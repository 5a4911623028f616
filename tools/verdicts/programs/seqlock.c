/* Readers of a record under a version make copies durable. The writer's record must be durable before its version is even. */
#include "pool.h"
enum { RIGHT, READER_FLUSHES, EVEN_EARLY };

struct pool {
    LINE word version; /* volatile by its use: recovery begins at 0 */
    LINE word left;
    word right;
    LINE word copy;
};

static void *writer(void *at) {
    struct pool *p = at;
    p->version = 1; /* MAY */
    p->left = 7;  /* BUG */
    p->right = 7; /* BUG */
    if (HOW == RIGHT) persist(&p->left, 16);
    p->version = 2; /* MAY */
    if (HOW != RIGHT) persist(&p->left, 16);
    return NULL;
}

static void *reader(void *at) {
    struct pool *p = at;
    uint64_t before, value;
    do {
        while ((before = p->version) % 2 || before == 0) {}
        value = p->right; /* AUDIT: EVEN_EARLY */
    } while (p->version != before);
    if (HOW == READER_FLUSHES) persist(&p->left, 16);
    p->copy = value; /* MAY */
    persist(&p->copy, 8);
    return NULL;
}

static void run(struct pool *p) {
    both(reader, writer, p);
}

static void check(struct pool *p) {
    REQUIRE(p->copy <= p->right);
}

PROGRAM

/* A key is deleted: by one durable word, or by clearing what makes it whole in an order that leaves a ghost. */
#include "pool.h"
enum { RIGHT, VALUE_LATER, KEY_FIRST, UNFLUSHED, UNFENCED };

struct pool {
    LINE word key; /* 0: none */
    LINE word value;
    LINE word reused;
};

APART void delete(struct pool *p) {
    if (HOW == KEY_FIRST) p->value = 0; /* BUG: KEY_FIRST */
    if (HOW == KEY_FIRST) persist(&p->value, 8);
    p->key = 0; /* BUG */
    if (HOW != UNFLUSHED) flush(&p->key); /* AUDIT: UNFENCED */
    if (HOW != UNFENCED && HOW != UNFLUSHED) fence();
    if (HOW == VALUE_LATER) p->value = 0;
    if (HOW == VALUE_LATER) persist(&p->value, 8);
}

static void run(struct pool *p) {
    p->value = 50;
    persist(&p->value, 8);
    p->key = 5;
    persist(&p->key, 8);
    STRANDLINE_REGION_BEGIN();
    STRANDLINE_TASK_BEGIN();
    delete(p);
    STRANDLINE_TASK_END();
    p->reused = 1;
    persist(&p->reused, 8);
}

static void check(struct pool *p) {
    REQUIRE(!p->key || p->value == 50);
    REQUIRE(!p->key || !acknowledged(0));
}

PROGRAM

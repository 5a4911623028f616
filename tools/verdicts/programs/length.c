/* A list and its length. Recovery counts anew, or trusts the length. */
#include "pool.h"
enum { RIGHT, HINT, TRUSTED, TRUSTED_UNFLUSHED };

struct pool {
    LINE word head;
    LINE word length;
    struct {
        LINE word key;
        word next;
    } nodes[5];
};

static void run(struct pool *p) {
    for (int i = 1; i < 5; i++) {
        p->nodes[i].key = i;
        p->nodes[i].next = p->head;
        persist(&p->nodes[i], 16);
        p->head = i; /* BUG: TRUSTED TRUSTED_UNFLUSHED */
        persist(&p->head, 8);
        p->length += 1; /* BUG: TRUSTED TRUSTED_UNFLUSHED */
        if (HOW != TRUSTED_UNFLUSHED) persist(&p->length, 8);
    }
}

static void check(struct pool *p) {
    uint64_t found = 0;
    for (uint64_t at = p->head; at; at = p->nodes[at].next) found++;
    if (HOW == RIGHT) return;
    if (HOW == HINT) REQUIRE(p->length == found || p->length + 1 == found); /* at most one behind: the length comes last */
    else REQUIRE(p->length == found);
}

PROGRAM

/* A list linked both ways. Recovery walks forwards and makes the backward links anew, or believes them. */
#include "pool.h"
enum { RIGHT, HINTS, BELIEVED, BACK_FIRST };

struct pool {
    struct {
        LINE word next;
        word previous;
    } nodes[4];
};

static void back(struct pool *p) {
    p->nodes[3].previous = 2; /* BUG */
    persist(&p->nodes[3], 16);
}

static void run(struct pool *p) {
    p->nodes[1].next = 3;
    p->nodes[3].previous = 1;
    persist(p->nodes, sizeof p->nodes);
    STRANDLINE_REGION_BEGIN();
    p->nodes[2].next = 3;
    p->nodes[2].previous = 1;
    persist(&p->nodes[2], 16);
    if (HOW == BACK_FIRST) back(p);
    p->nodes[1].next = 2; /* BUG */
    persist(&p->nodes[1], 16);
    if (HOW != BACK_FIRST) back(p);
}

static void check(struct pool *p) {
    for (uint64_t at = 1; p->nodes[at].next; at = p->nodes[at].next) {
        uint64_t next = p->nodes[at].next;
        if (HOW == RIGHT) p->nodes[next].previous = at;
        if (HOW == HINTS) REQUIRE(p->nodes[next].previous == at || p->nodes[p->nodes[next].previous].next == at);
        else REQUIRE(p->nodes[next].previous == at);
    }
}

PROGRAM

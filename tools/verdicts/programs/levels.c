/* A skip list: the bottom level is the truth. Upper levels may lag behind it, and may not run ahead. */
#include "pool.h"
enum { RIGHT, TOWERS_VOLATILE, TOP_FIRST, ONE_FENCE };

struct pool {
    struct node {
        LINE word key;
        word levels[2];
    } nodes[4];
};

static void link_level(struct pool *p, int node, int level) {
    p->nodes[node - 1].levels[level] = node; /* BUG */
    if (HOW != TOWERS_VOLATILE || level == 0) flush(&p->nodes[node - 1]);
    if (HOW != ONE_FENCE) fence();
}

static void run(struct pool *p) {
    static uint64_t towers[4];
    for (int node = 1; node < 4; node++) {
        p->nodes[node].key = node; /* BUG: ONE_FENCE */
        flush(&p->nodes[node]);
        if (HOW != ONE_FENCE) fence();
        if (HOW == TOP_FIRST) link_level(p, node, 1);
        link_level(p, node, 0);
        if (HOW == TOWERS_VOLATILE) towers[node - 1] = node;
        else if (HOW != TOP_FIRST) link_level(p, node, 1);
        if (HOW == ONE_FENCE) fence();
    }
    if (HOW == TOWERS_VOLATILE && towers[0] != 1) exit(3);
}

static void check(struct pool *p) {
    uint64_t there = 0;
    for (uint64_t at = p->nodes[0].levels[0]; at; at = p->nodes[at].levels[0]) {
        REQUIRE(p->nodes[at].key == at);
        there |= 1u << at;
    }
    for (uint64_t at = p->nodes[0].levels[1]; at; at = p->nodes[at].levels[1]) REQUIRE(there >> at & 1);
}

PROGRAM

/* A list of ranges is flushed at commit. A freed object's range had been merged with its neighbour's; with it, the
 * neighbour is dropped. */
#include "pool.h"
enum { RIGHT, UNMERGED, DROPPED };

struct pool {
    LINE word object[16];
    LINE word committed;
};

static struct range {
    int from, to;
} ranges[4];
static int used;

static void add(int from, int to) {
    if (HOW != UNMERGED && used && ranges[used - 1].to == from) ranges[used - 1].to = to;
    else ranges[used++] = (struct range){from, to};
}

static void drop(int from, int to) {
    for (int i = 0; i < used; i++) {
        if (from < ranges[i].from || to > ranges[i].to) continue;
        if (HOW == DROPPED || (from == ranges[i].from && to == ranges[i].to)) ranges[i] = ranges[--used];
        else if (from == ranges[i].from) ranges[i].from = to;
        else ranges[i].to = from;
    }
}

static void run(struct pool *p) {
    for (int i = 0; i < 8; i++) p->object[i] = 11; /* BUG: DROPPED */
    add(0, 8);
    for (int i = 8; i < 16; i++) p->object[i] = 22; /* MAY */
    add(8, 16);
    drop(8, 16);
    for (int i = 0; i < used; i++) flush_all(&p->object[ranges[i].from], 8 * (ranges[i].to - ranges[i].from));
    fence(); /* MAY */
    p->committed = 1;
    persist(&p->committed, 8);
}

static void check(struct pool *p) {
    for (int i = 0; p->committed && i < 8; i++) REQUIRE(p->object[i] == 11);
}

PROGRAM

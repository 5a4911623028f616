/* A thread acts on what another one has made visible, and makes that durable first. */
#include "pool.h"
enum { RIGHT, FLUSHED_BEFORE, STALE, VISIBLE_FIRST, UNFENCED };

struct pool {
    LINE word directory;
    LINE word segment[8];
    LINE word acted;
};

static void *writer(void *at) {
    struct pool *p = at;
    if (HOW == FLUSHED_BEFORE) { /* a durable copy is published by a word in another line */
        p->segment[1] = 1;
        persist(&p->segment[1], 8);
    }
    p->directory = 1; /* BUG: VISIBLE_FIRST */
    persist(&p->directory, 8);
    return NULL;
}

static void *reader(void *at) {
    struct pool *p = at;
    uint64_t found;
    if (HOW == STALE) {
        found = p->directory; /* whatever it is */
        persist(&p->directory, 8);
    } else {
        while ((found = p->directory) == 0) {} /* AUDIT: VISIBLE_FIRST */
    }
    if (HOW == RIGHT || HOW == UNFENCED) persist(&p->directory, 8);
    if (HOW == FLUSHED_BEFORE) found = p->segment[1];
    p->segment[0] = found; /* BUG: UNFENCED */ /* MAY */
    if (HOW == UNFENCED) flush(&p->segment[0]);
    else persist(&p->segment[0], 8);
    p->acted = 1; /* MAY */
    persist(&p->acted, 8);
    return NULL;
}

static void run(struct pool *p) {
    both(reader, writer, p);
}

static void check(struct pool *p) {
    if (HOW == FLUSHED_BEFORE) REQUIRE(!p->acted || p->segment[0] == p->segment[1]);
    else if (HOW == UNFENCED) REQUIRE(!p->acted || p->segment[0]);
    else REQUIRE(!p->segment[0] || p->directory);
}

PROGRAM

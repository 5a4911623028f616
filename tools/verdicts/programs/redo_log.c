/* A redo log: new values are written down, a commit word vouches for them, then they are applied. */
#include "pool.h"
enum { RIGHT, LINE_COMMIT, APPLIED_EARLY, UNFENCED_ENTRIES, UNFENCED_COMMIT, CLEARED_EARLY, CLEARED_UNFLUSHED };

struct pool {
    LINE word committed;
    word near[4]; /* entries beside their commit word: LINE_COMMIT */
    LINE word entries[4];
    struct {
        LINE word value;
    } words[4];
};

static word *entries(struct pool *p) {
    return HOW == LINE_COMMIT ? p->near : p->entries;
}

static void apply(struct pool *p) {
    for (int i = 0; i < 4; i++) p->words[i].value = entries(p)[i]; /* BUG */
    if (HOW != CLEARED_UNFLUSHED) flush_all(p->words, sizeof p->words);
}

static void clear(struct pool *p) {
    p->committed = 0; /* BUG: CLEARED_EARLY CLEARED_UNFLUSHED */
    persist(&p->committed, 8);
}

static void run(struct pool *p) {
    for (int i = 0; i < 4; i++) entries(p)[i] = 7; /* BUG: UNFENCED_ENTRIES */
    if (HOW != LINE_COMMIT) flush(entries(p));
    if (HOW != LINE_COMMIT && HOW != UNFENCED_ENTRIES) fence();
    if (HOW == APPLIED_EARLY) apply(p);
    p->committed = 1; /* BUG: UNFENCED_ENTRIES UNFENCED_COMMIT */
    flush(&p->committed);
    if (HOW != UNFENCED_COMMIT) fence();
    if (HOW == CLEARED_EARLY) clear(p);
    if (HOW != APPLIED_EARLY) apply(p);
    if (HOW != CLEARED_UNFLUSHED && HOW != APPLIED_EARLY) fence();
    if (HOW != CLEARED_EARLY) clear(p);
}

static void check(struct pool *p) {
    if (p->committed) for (int i = 0; i < 4; i++) p->words[i].value = entries(p)[i];
    for (int i = 1; i < 4; i++) REQUIRE(p->words[i].value == p->words[0].value);
}

PROGRAM

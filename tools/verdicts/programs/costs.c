/* Flushes and fences without an effect. All variants are right; these cost time. */
#include "pool.h"
enum { RIGHT, LINE_DIRTIED_AGAIN, FLUSHED_TWICE, CLEAN, WHOLE_NODE, FENCED_TWICE, FENCE_FIRST, VOLATILE, EACH_WORD };

struct pool {
    struct {
        LINE word words[24];
    } node;
    LINE word flag;
};

static void run(struct pool *p) {
    static word here[8];
    if (HOW == FENCE_FIRST) fence(); /* COST: FENCE_FIRST */
    for (int i = 0; i < 8; i++) p->node.words[i] = i + 1;
    if (HOW == LINE_DIRTIED_AGAIN) flush(p->node.words);
    if (HOW == LINE_DIRTIED_AGAIN) p->node.words[3] = 9;
    if (HOW == EACH_WORD) for (int i = 0; i < 7; i++) flush(&p->node.words[i]); /* COST: EACH_WORD */
    if (HOW == WHOLE_NODE) flush_all(&p->node, sizeof p->node); /* COST: WHOLE_NODE */
    else flush(p->node.words); /* COST: EACH_WORD */
    if (HOW == FLUSHED_TWICE) flush(&p->node.words[7]); /* COST: FLUSHED_TWICE */
    if (HOW == CLEAN) flush(&p->node.words[8]); /* COST: CLEAN */
    here[0] = 1;
    if (HOW == VOLATILE) flush(here); /* COST: VOLATILE */
    fence();
    if (HOW == FENCED_TWICE) fence(); /* COST: FENCED_TWICE */
    p->flag = 1;
    persist(&p->flag, 8);
}

static void check(struct pool *p) {
    for (int i = 0; p->flag && i < 8; i++) REQUIRE(p->node.words[i]);
}

PROGRAM

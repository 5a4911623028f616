/* A string is replaced: by a new copy and a switch, or in place. */
#include "pool.h"
enum { RIGHT, WITHIN_A_WORD, IN_PLACE, LENGTH_APART };

struct pool {
    LINE word which;
    word length;
    LINE word texts[2][8];
};

static void put(word *to, const char *text) {
    union {
        char bytes[24];
        uint64_t words[3];
    } from = {{0}};
    strcpy(from.bytes, text);
    for (int i = 0; i < (HOW == WITHIN_A_WORD ? 1 : 3); i++) to[i] = from.words[i]; /* BUG: IN_PLACE */
    persist(to, 24);
}

static void run(struct pool *p) {
    put(p->texts[0], HOW == WITHIN_A_WORD ? "old one" : "the old and long text");
    STRANDLINE_REGION_BEGIN();
    put(p->texts[HOW == RIGHT || HOW == LENGTH_APART], HOW == WITHIN_A_WORD ? "new one" : "the new, better text.");
    if (HOW == LENGTH_APART) p->length = 1; /* BUG: LENGTH_APART */
    if (HOW == LENGTH_APART) persist(&p->length, 8);
    p->which = HOW == RIGHT || HOW == LENGTH_APART; /* BUG: LENGTH_APART */
    persist(&p->which, 8);
}

static void check(struct pool *p) {
    const char *text = (const char *)p->texts[p->which];
    if (HOW == WITHIN_A_WORD) REQUIRE(!strcmp(text, "old one") || !strcmp(text, "new one"));
    else REQUIRE(!strcmp(text, "the old and long text") || !strcmp(text, "the new, better text."));
    if (HOW == LENGTH_APART) REQUIRE(p->length == p->which);
}

PROGRAM

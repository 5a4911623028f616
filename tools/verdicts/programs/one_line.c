/* Value and flag share a line. Its stores persist in their order, so one flush is enough if the value comes first. The
 * flush belongs behind both. */
#include "pool.h"
enum { RIGHT, UNFLUSHED, FLAG_FIRST, ACROSS };

struct pool {
    LINE word gap[6];
    word value;
    word second; /* the next field begins a line in ACROSS */
    word flag;
};

static void run(struct pool *p) {
    word *flag = HOW == ACROSS ? &p->flag : &p->second;
    if (HOW == FLAG_FIRST) *flag = 1; /* BUG: FLAG_FIRST */
    p->value = 7;                     /* BUG: FLAG_FIRST ACROSS */
    if (HOW != FLAG_FIRST) *flag = 1; /* MAY */
    if (HOW != UNFLUSHED) persist(&p->value, HOW == ACROSS ? 24 : 16);
}

static void check(struct pool *p) {
    REQUIRE(!(HOW == ACROSS ? p->flag : p->second) || p->value == 7);
}

PROGRAM

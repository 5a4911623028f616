/* The C library copies and fills; the program flushes what it copied, all of it or not. */
#include "pool.h"
enum { RIGHT, TINY, LONG, NO_FLUSH, PART, STRING_END };

struct pool {
    LINE word flag;
    LINE char bytes[512];
};

static volatile size_t bytes = HOW == TINY ? 3 : HOW == STRING_END ? 64 : HOW == LONG ? 480 : 300;

static void run(struct pool *p) {
    static char from[512];
    memset(from, 'x', sizeof from - 1);
    char *to = p->bytes + (HOW == TINY ? 61 : 0);
    if (HOW == TINY) memset(to, 'x', bytes);
    else if (HOW == STRING_END) memcpy(to, from, bytes + 1); /* BUG: STRING_END */
    else memcpy(to, from, bytes); /* BUG: NO_FLUSH PART */
    if (HOW != NO_FLUSH) flush_all(to, HOW == PART ? 256 : bytes);
    fence(); /* MAY: NO_FLUSH */
    p->flag = 1;
    persist(&p->flag, 8);
}

static void check(struct pool *p) {
    for (size_t i = 0; p->flag && i < bytes + (HOW == STRING_END); i++) REQUIRE(p->bytes[i + (HOW == TINY ? 61 : 0)] == 'x');
}

PROGRAM

/* A page is filled, made durable, and then vouched for: in each way that does so, and in one that misses a line. */
#include "pool.h"
enum { RIGHT, NT, CLFLUSHOPT, CLFLUSH, LIBRARY, BACKWARDS, MISSED_LAST };

struct pool {
    LINE word ready;
    LINE word page[16];
};

static void flush_line(struct pool *p, int line) {
    word *at = &p->page[8 * line];
    if (HOW == CLFLUSHOPT) __asm__ volatile("clflushopt %0" ::"m"(*at) : "memory");
    else if (HOW == CLFLUSH) __asm__ volatile("clflush %0" ::"m"(*at) : "memory");
    else flush(at);
}

static void run(struct pool *p) {
    if (HOW == LIBRARY) memset((void *)p->page, 1, sizeof p->page);
    for (int i = 0; i < 16 && HOW != LIBRARY; i++) {
        if (HOW == NT) store_nt(&p->page[i], 0x0101010101010101);
        else p->page[i] = 0x0101010101010101; /* BUG */
    }
    for (int line = 0; line < 2 - (HOW == MISSED_LAST) && HOW != NT; line++) {
        flush_line(p, HOW == BACKWARDS ? 1 - line : line);
    }
    if (HOW != CLFLUSH) fence();
    p->ready = 1;
    persist(&p->ready, 8);
}

static void check(struct pool *p) {
    for (int i = 0; p->ready && i < 16; i++) REQUIRE(p->page[i] == 0x0101010101010101);
}

PROGRAM

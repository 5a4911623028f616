/* Two bugs, of which one shows without the other: a token may be durable before its key, and a new table is never flushed. */
#include "pool.h"
enum { RIGHT, SAME_LINE, KEY_AND_TABLE, KEY, TABLE };

struct pool {
    LINE word table;
    word generations[3];
    struct {
        LINE word key;
        word token;
        LINE word far_token;
    } entries[2][8];
};

static int used;

static word *token(struct pool *p, int table, int entry) {
    return HOW == SAME_LINE ? &p->entries[table][entry].token : &p->entries[table][entry].far_token;
}

static void grow(struct pool *p) {
    for (int i = 0; i < 4; i++) {
        p->entries[1][i].key = p->entries[0][i].key;
        persist(&p->entries[1][i].key, 8);
        *token(p, 1, i) = 1;
        persist(token(p, 1, i), 8);
    }
    p->table = 1; /* BUG2: KEY_AND_TABLE TABLE */
    for (int i = 0; i < 3; i++) p->generations[i] = 2; /* MAY: KEY_AND_TABLE TABLE */
    if (HOW != TABLE && HOW != KEY_AND_TABLE) persist(&p->table, 32);
}

APART void put(struct pool *p, uint64_t key) {
    if (used == 4) grow(p);
    int table = p->table, entry = used++;
    p->entries[table][entry].key = key; /* BUG: KEY_AND_TABLE KEY */
    if (HOW == RIGHT || HOW == TABLE) persist(&p->entries[table][entry].key, 8);
    *token(p, table, entry) = 1; /* BUG: KEY_AND_TABLE KEY */
    if (HOW == KEY || HOW == KEY_AND_TABLE) flush(&p->entries[table][entry].key);
    persist(token(p, table, entry), 8);
}

static void run(struct pool *p) {
    for (int i = 0; i < 8; i++) put(p, 10 + i);
}

static void check(struct pool *p) {
    uint64_t found = 0;
    for (int i = 0; i < 8; i++) {
        if (!*token(p, p->table, i)) continue;
        if (p->entries[p->table][i].key != 10u + i) {
            fprintf(stderr, "an entry has no key\n");
            exit(1);
        }
        found++;
    }
    REQUIRE(found >= acknowledged(0));
}

PROGRAM

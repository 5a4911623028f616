/* An undo log in two linked parts. Recovery rolls back and clears. A crash after commit has cleared the first part leaves the
 * second one full; the next large transaction trusts that it is empty. Shows only after a crash, a recovery, a second
 * transaction and another crash. */
#include "pool.h"
enum { RIGHT, STALE_PART };

struct part {
    LINE word count;
    struct {
        word place, before;
    } entries[2];
};

struct pool {
    LINE word values[4];
    struct part parts[2];
};

static void clear(struct pool *p, int part) {
    p->parts[part].count = 0;
    persist(&p->parts[part].count, 8);
}

static void recover(struct pool *p) {
    if (p->parts[0].count == 0) {
        if (HOW != STALE_PART && p->parts[1].count) clear(p, 1);
        return;
    }
    for (int i = 1; i >= 0; i--) {
        for (int k = (int)p->parts[i].count - 1; k >= 0; k--) p->values[p->parts[i].entries[k].place] = p->parts[i].entries[k].before;
    }
    persist(p->values, sizeof p->values);
    clear(p, 1);
    clear(p, 0);
}

static void move(struct pool *p, uint64_t amount) {
    for (int i = 0; i < 4; i++) {
        struct part *part = &p->parts[i / 2];
        uint64_t number = i % 2; /* trusts that the part was empty */
        part->entries[number].place = i;
        part->entries[number].before = p->values[i];
        persist(&part->entries[number], 16);
        if (part->count < number + 1) { /* a stale count is larger already */
            part->count = number + 1;
            persist(&part->count, 8);
        }
        p->values[i] += i < 2 ? -amount : amount;
        persist(&p->values[i], 8);
    }
    clear(p, 0); /* the first part decides */
    clear(p, 1);
}

static void run(struct pool *p) {
    move(p, 1);
}

static void again(struct pool *p) {
    move(p, 5);
}

static void check(struct pool *p) {
    REQUIRE(p->values[0] + p->values[1] + p->values[2] + p->values[3] == 0);
}

PROGRAM_WITH(recover, again)

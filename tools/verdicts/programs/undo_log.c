/* How an undo log itself is written: its entry, its count, its room, the order in which it is undone. */
#define ENTRIES (HOW == OUTGROWN ? 4 : 8)
enum { RIGHT, CHECKSUMMED, COUNT_FIRST, ONE_FENCE, OUTGROWN, OLDEST_FIRST, OFF_BY_ONE };
#include "undo.h"

struct pool {
    LINE word unused; /* where an entry of zeros points to */
    struct log log;
    LINE word words[6][8];
};

static uint64_t sum(uint64_t place, uint64_t before, uint64_t number) {
    return (place * 31 + before) * 31 + number + 7;
}

static void note(struct pool *p, word *at) {
    struct log *log = &p->log;
    uint64_t number = log->count;
    if (HOW == RIGHT || HOW == OUTGROWN || HOW == OLDEST_FIRST || HOW == OFF_BY_ONE) {
        save(log, p, at); /* BUG: OUTGROWN */
        return;
    }
    if (HOW == COUNT_FIRST) log->count += 1; /* BUG: COUNT_FIRST */
    if (HOW == COUNT_FIRST) persist(&log->count, 8);
    uint64_t place = (uint64_t)((char *)at - (char *)p), before = *at;
    log->entries[number].place = place; /* BUG: COUNT_FIRST ONE_FENCE */
    log->entries[number].before = before; /* BUG: COUNT_FIRST ONE_FENCE */
    if (HOW == CHECKSUMMED) log->entries[number].sum = sum(place, before, number);
    flush(&log->entries[number]);
    if (HOW != COUNT_FIRST) log->count += 1;
    if (HOW != COUNT_FIRST) flush(&log->count);
    fence();
}

static void run(struct pool *p) {
    for (int i = 0; i < 6; i++) p->words[i][0] = 5;
    for (int i = 0; i < ENTRIES; i++) { /* an earlier transaction left its entries */
        uint64_t place = (uint64_t)((char *)&p->words[5 - i % 6][0] - (char *)p);
        p->log.entries[i].place = place;
        p->log.entries[i].before = 4;
        p->log.entries[i].sum = sum(place, 4, i + 50);
    }
    persist(p, sizeof *p);
    STRANDLINE_REGION_BEGIN();
    for (int i = 0; i < 6; i++) {
        word *at = &p->words[HOW == OLDEST_FIRST ? i / 2 : i][0];
        note(p, at);
        *at += 1; /* BUG: OUTGROWN OFF_BY_ONE COUNT_FIRST ONE_FENCE */
        flush(at);
        if (HOW == OLDEST_FIRST || i == 5) fence();
    }
    commit(&p->log);
}

static void recover(struct pool *p) {
    struct log *log = &p->log;
    if (HOW == CHECKSUMMED && log->count > 0) {
        uint64_t last = log->count - 1; /* its update waits for the entry's fence, so a torn entry needs no undoing */
        if (log->entries[last].sum != sum(log->entries[last].place, log->entries[last].before, last)) log->count = last;
    }
    for (uint64_t i = 0; HOW == OLDEST_FIRST && i < log->count; i++) {
        *(word *)((char *)p + log->entries[i].place) = log->entries[i].before;
    }
    if (HOW == OFF_BY_ONE && log->count > 0) log->count -= 1;
    if (HOW != OLDEST_FIRST) undo(log, p);
}

static void check(struct pool *p) {
    uint64_t whole = HOW == OLDEST_FIRST ? 7 : 6;
    recover(p);
    for (int i = 0; i < 6 && (HOW != OLDEST_FIRST || i < 3); i++) REQUIRE(p->words[i][0] == p->words[0][0]);
    REQUIRE(p->words[0][0] == 0 || p->words[0][0] == 5 || p->words[0][0] == whole);
}

PROGRAM

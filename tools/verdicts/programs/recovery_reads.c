/* What recovery reads was not made durable: a hint that it takes for the truth. */
#include "pool.h"
enum { RIGHT, CHECKED_HINT, FLUSHED_HINT, TRUSTED_HINT, HINT_TOO_HIGH };

struct pool {
    LINE word hint; /* the number of records, or fewer */
    struct {
        LINE word value;
        word seal;
    } records[6];
};

static void append(struct pool *p, uint64_t number) {
    STRANDLINE_TASK_BEGIN();
    if (HOW == HINT_TOO_HIGH) p->hint = number + 1; /* BUG: HINT_TOO_HIGH */
    if (HOW == HINT_TOO_HIGH) persist(&p->hint, 8);
    p->records[number].value = 10 + number; /* BUG: HINT_TOO_HIGH */
    p->records[number].seal = ~(10 + number);
    persist(&p->records[number], 16);
    if (HOW != HINT_TOO_HIGH && HOW != RIGHT) p->hint = number + 1; /* BUG: TRUSTED_HINT */ /* MAY */
    if (HOW == FLUSHED_HINT) persist(&p->hint, 8);
    STRANDLINE_TASK_END();
}

static void run(struct pool *p) {
    for (int i = 0; i < 6; i++) append(p, i);
}

static void check(struct pool *p) {
    uint64_t count = p->hint;
    if (HOW != TRUSTED_HINT && HOW != HINT_TOO_HIGH && HOW != FLUSHED_HINT) {
        while (count < 6 && p->records[count].seal == ~p->records[count].value) count++; /* from the hint on */
    }
    REQUIRE(count >= acknowledged(0));
    for (uint64_t i = 0; i < count; i++) REQUIRE(p->records[i].value == 10 + i);
}

PROGRAM

/* A transaction that logs a word twice, or persists what is durable already: right, and slower. */
#include "undo.h"
enum { RIGHT, LOGGED_TWICE, PERSISTED_AGAIN, COMMITTED_TWICE };

struct pool {
    struct log log;
    LINE word words[2];
};

static void run(struct pool *p) {
    for (int round = 1; round < 3; round++) {
        save(&p->log, p, &p->words[0]);
        if (HOW == LOGGED_TWICE) save(&p->log, p, &p->words[0]);
        save(&p->log, p, &p->words[1]);
        p->words[0] = round;
        p->words[1] = round;
        persist(p->words, 16);
        if (HOW == PERSISTED_AGAIN) persist(p->words, 16); /* COST: PERSISTED_AGAIN */
        commit(&p->log);
        if (HOW == COMMITTED_TWICE) persist(&p->log.count, 8); /* COST: COMMITTED_TWICE */
    }
}

static void check(struct pool *p) {
    undo(&p->log, p);
    REQUIRE(p->words[0] == p->words[1]);
}

PROGRAM

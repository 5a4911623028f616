/* A transaction moves an amount; one of its two accounts is not logged. */
#include "undo.h"

struct pool {
    struct log log;
    LINE uint64_t ready;
    LINE uint64_t from;
    LINE uint64_t to;
};

static void run(void *at) {
    struct pool *pool = at;
    pool->from = 100;
    persist(&pool->from, 8);
    pool->ready = 1;
    persist(&pool->ready, 8);

    save(&pool->log, pool, &pool->from);
#ifdef MENDED
    save(&pool->log, pool, &pool->to);
#endif
    pool->from -= 30;
    pool->to += 30; /* HERE */
    flush(&pool->from);
    flush(&pool->to);
    fence();
    commit(&pool->log);
}

static int check(void *at) {
    struct pool *pool = at;
    undo(&pool->log, pool);
    return pool->ready && pool->from + pool->to != 100;
}

PROGRAM(sizeof(struct pool))

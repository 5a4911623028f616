/* A word is logged when its update may be durable already. */
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

#ifdef MENDED
    save(&pool->log, pool, &pool->from);
#endif
    pool->from -= 30; /* HERE */
#ifndef MENDED
    save_as(&pool->log, pool, &pool->from, 100);
#endif
    save(&pool->log, pool, &pool->to);
    pool->to += 30;
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

/* Recovery adds what a redo record says. A crash within it makes the next one add that twice. The run ends with a recovery,
 * so its crash states are those within one. Mended, the record gives what the total becomes. */
#include "pool.h"

struct pool {
    LINE uint64_t pending;
    LINE uint64_t total;
};

static void recover(struct pool *pool) {
#ifdef MENDED
    if (pool->pending != 0) {
        pool->total = pool->pending;
        persist(&pool->total, 8);
    }
#else
    pool->total += pool->pending; /* HERE */
    persist(&pool->total, 8);
#endif
    pool->pending = 0;
    persist(&pool->pending, 8);
}

static void run(void *at) {
    struct pool *pool = at;
    pool->total = 100;
    persist(&pool->total, 8);
#ifdef MENDED
    pool->pending = 130;
#else
    pool->pending = 30;
#endif
    persist(&pool->pending, 8);
    recover(pool);
}

static int check(void *at) {
    struct pool *pool = at;
    if (pool->total == 0) {
        return 0;
    }
    recover(pool);
    return pool->total != 100 && pool->total != 130;
}

PROGRAM(sizeof(struct pool))

/* A transaction updates more words than its log holds, and the log overwrites its oldest entries. */
#ifdef MENDED
#define ENTRIES 8
#else
#define ENTRIES 4
#endif
#include "undo.h"

struct pool {
    struct log log;
    LINE uint64_t words[6][8];
};

static void run(void *at) {
    struct pool *pool = at;
    for (int number = 0; number < 6; number++) {
        save(&pool->log, pool, &pool->words[number][0]);
        pool->words[number][0] = 1; /* HERE */
        flush(&pool->words[number][0]);
    }
    fence();
    commit(&pool->log);
}

static int check(void *at) {
    struct pool *pool = at;
    undo(&pool->log, pool);
    for (int number = 1; number < 6; number++) {
        if (pool->words[number][0] != pool->words[0][0]) {
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

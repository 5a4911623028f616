/* A task says that it is done, and persists what it did afterwards. */
#include "pool.h"

struct pool {
    LINE uint64_t values[8];
};

static void run(void *at) {
    struct pool *pool = at;
    for (int number = 0; number < 8; number++) {
        STRANDLINE_TASK_BEGIN();
        pool->values[number] = 1; /* HERE */
#ifdef MENDED
        persist(&pool->values[number], 8);
#endif
        STRANDLINE_TASK_END();
#ifndef MENDED
        persist(&pool->values[number], 8);
#endif
    }
}

static int check(void *at) {
    struct pool *pool = at;
    const char *done = getenv("STRANDLINE_TASKS_DONE");
    int count = done ? atoi(done) : 0;
    for (int number = 0; number < count; number++) {
        if (pool->values[number] != 1) {
            fprintf(stderr, "task %d of %d is lost\n", number + 1, count);
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

/* The pointer is flushed where the object was meant. */
#include "pool.h"

struct object {
    LINE uint64_t first;
    uint64_t second;
};

struct pool {
    LINE uint64_t used; /* the object's number and 1, or 0 */
    struct object objects[4];
};

static void run(void *at) {
    struct pool *pool = at;
    struct object *object = &pool->objects[2];
    object->first = 7; /* HERE */
    object->second = 8;
#ifdef MENDED
    persist(object, sizeof *object);
#else
    persist(&object, sizeof object);
#endif
    pool->used = 3;
    persist(&pool->used, 8);
}

static int check(void *at) {
    struct pool *pool = at;
    if (pool->used == 0) {
        return 0;
    }
    struct object *object = &pool->objects[pool->used - 1];
    return object->first != 7 || object->second != 8;
}

PROGRAM(sizeof(struct pool))

/* Allocations of libpmemobj outside of a transaction: an object is filled before its pointer is there, or it is not. */
#include "pmdk.h"
enum { RIGHT, ZEROED, COPIED, FILLED_LATE, SIZE_LATE, NOT_PERSISTED, NOT_DRAINED };

struct root {
    PMEMoid array;
    char unused[48];
    uint64_t size;
};

static int construct(PMEMobjpool *pool, void *at, void *unused) {
    uint64_t *words = at;
    words[0] = 1;
    words[9] = 1;
    if (HOW == RIGHT) pmemobj_persist(pool, words, 80);
    (void)unused;
    return 0;
}

static void prepare(PMEMobjpool *pool, struct root *root) {
    (void)pool, (void)root;
}

static void run(PMEMobjpool *pool, struct root *root) {
    static const uint64_t ones[10] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    if (HOW == RIGHT) pmemobj_alloc(pool, &root->array, 80, 1, construct, NULL);
    if (HOW == ZEROED || HOW == SIZE_LATE || HOW == FILLED_LATE) pmemobj_zalloc(pool, &root->array, 80, 1); /* BUG: SIZE_LATE FILLED_LATE */
    if (HOW == COPIED || HOW == NOT_DRAINED || HOW == NOT_PERSISTED) {
        PMEMoid object;
        pmemobj_zalloc(pool, &object, 80, 1);
        if (HOW == COPIED) pmemobj_memcpy_persist(pool, pmemobj_direct(object), ones, 80);
        else memcpy(pmemobj_direct(object), ones, 80); /* BUG: NOT_DRAINED NOT_PERSISTED */
        if (HOW == NOT_DRAINED) pmemobj_flush(pool, pmemobj_direct(object), 80);
        root->array = object; /* MAY */
        pmemobj_persist(pool, &root->array, 16);
    }
    if (HOW == SIZE_LATE) root->size = 80; /* BUG: SIZE_LATE */
    if (HOW == SIZE_LATE) pmemobj_persist(pool, &root->size, 8);
    if (HOW == FILLED_LATE) pmemobj_memcpy_persist(pool, pmemobj_direct(root->array), ones, 80); /* BUG: FILLED_LATE */
}

static void check(PMEMobjpool *pool, struct root *root) {
    uint64_t *words = pmemobj_direct(root->array);
    if (HOW == SIZE_LATE) REQUIRE(!words || root->size == 80);
    else if (HOW != ZEROED) REQUIRE(!words || (words[0] == 1 && words[9] == 1));
    else REQUIRE(!words || (words[0] == 0 && words[9] == 0));
    (void)pool;
}

PROGRAM

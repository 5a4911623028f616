/* Locks of libpmemobj in the root, around counters that are made durable. Their words need not be. */
#include "pmdk.h"
enum { RIGHT, RWLOCK, BESIDE, BESIDE_RWLOCK, UNLOCKED_EARLY };

struct root {
    uint64_t near; /* in the line of the locks: BESIDE */
    PMEMrwlock rwlock;
    PMEMmutex mutex;
    char unused[64];
    uint64_t far;
    char apart[64];
    uint64_t copy;
};

static PMEMobjpool *the_pool;

static void take(struct root *root) {
    if (HOW == RWLOCK || HOW == BESIDE_RWLOCK) pmemobj_rwlock_wrlock(the_pool, &root->rwlock); /* NOT */
    else pmemobj_mutex_lock(the_pool, &root->mutex); /* NOT */
}

static void leave(struct root *root) {
    if (HOW == RWLOCK || HOW == BESIDE_RWLOCK) pmemobj_rwlock_unlock(the_pool, &root->rwlock); /* NOT */
    else pmemobj_mutex_unlock(the_pool, &root->mutex); /* NOT */
}

APART void *work(void *at) {
    struct root *root = at;
    uint64_t *count = HOW == BESIDE || HOW == BESIDE_RWLOCK ? &root->near : &root->far;
    for (int i = 0; i < 3; i++) {
        take(root);
        *count += 1; /* BUG */ /* AUDIT: UNLOCKED_EARLY */
        if (HOW != UNLOCKED_EARLY) pmemobj_persist(the_pool, count, 8);
        root->copy = *count; /* AUDIT: UNLOCKED_EARLY */
        pmemobj_persist(the_pool, &root->copy, 8);
        leave(root);
        if (HOW == UNLOCKED_EARLY) pmemobj_persist(the_pool, count, 8);
    }
    return NULL;
}

static void prepare(PMEMobjpool *pool, struct root *root) {
    (void)pool, (void)root;
}

static void run(PMEMobjpool *pool, struct root *root) {
    the_pool = pool;
    both(work, work, (struct pool *)root);
}

static void check(PMEMobjpool *pool, struct root *root) {
    REQUIRE(root->copy <= (HOW == BESIDE || HOW == BESIDE_RWLOCK ? root->near : root->far));
    (void)pool;
}

PROGRAM

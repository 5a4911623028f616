/* A list insertion in a transaction of libpmemobj: what is added to the transaction, and when. */
#include "pmdk.h"
enum { RIGHT, ADDED_TWICE, NOT_ADDED, PART_ADDED, ADDED_LATE, NOT_ZEROED, OUTSIDE };

struct node {
    uint64_t key;
    PMEMoid next;
    uint64_t flags;
};

struct root {
    PMEMoid head;
    uint64_t count;
};

static void insert(PMEMobjpool *pool, struct root *root, uint64_t key) {
    TX_BEGIN(pool) {
        PMEMoid object = HOW == NOT_ZEROED ? pmemobj_tx_alloc(sizeof(struct node), 1) : pmemobj_tx_zalloc(sizeof(struct node), 1);
        struct node *node = pmemobj_direct(object);
        node->key = key;
        node->next = root->head;
        if (HOW == ADDED_LATE) root->count++; /* BUG: ADDED_LATE */
        if (HOW == PART_ADDED) pmemobj_tx_add_range_direct(&root->count, 8);
        else if (HOW != NOT_ADDED && HOW != OUTSIDE) pmemobj_tx_add_range_direct(root, sizeof *root);
        if (HOW == ADDED_TWICE) pmemobj_tx_add_range_direct(&root->count, 8);
        if (HOW != ADDED_LATE && HOW != OUTSIDE) root->count++; /* BUG: NOT_ADDED */
        if (HOW != OUTSIDE) root->head = object; /* BUG: NOT_ADDED PART_ADDED */
        if (HOW == OUTSIDE) root->count++; /* BUG: OUTSIDE */
        if (HOW == OUTSIDE) pmemobj_persist(pool, &root->count, 8);
        if (HOW == OUTSIDE) pmemobj_tx_add_range_direct(&root->head, 16);
        if (HOW == OUTSIDE) root->head = object;
    } TX_END
}

static void drop(PMEMobjpool *pool, struct root *root) { /* a later allocation is not zero then */
    TX_BEGIN(pool) {
        pmemobj_tx_add_range_direct(root, sizeof *root);
        struct node *node = pmemobj_direct(root->head);
        node->flags = 7;
        pmemobj_persist(pool, &node->flags, 8);
        PMEMoid object = root->head;
        root->head = node->next;
        root->count--;
        pmemobj_tx_free(object);
    } TX_END
}

static void prepare(PMEMobjpool *pool, struct root *root) {
    insert(pool, root, 9);
    drop(pool, root);
}

static void run(PMEMobjpool *pool, struct root *root) {
    insert(pool, root, 1);
    insert(pool, root, 2);
}

static void check(PMEMobjpool *pool, struct root *root) {
    uint64_t found = 0;
    for (struct node *node = pmemobj_direct(root->head); node; node = pmemobj_direct(node->next), found++) {
        REQUIRE((node->key == 1 || node->key == 2) && !node->flags);
    }
    REQUIRE(found == root->count);
    (void)pool;
}

PROGRAM

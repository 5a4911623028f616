/* rb-tree: StrandWeaver (ISCA 2020), Table II "RB-Tree"; DPO (MICRO 2016), Table III, has 64 operations a critical
 * section. Under the tree's lock, deletes a random key or inserts it, and flips its bit in a mirror. Every store is
 * logged before it is made. */
#include "txn.h"

#ifndef KEYS
#define KEYS 16384
#endif
#ifndef OPERATIONS
#define OPERATIONS 1
#endif

#define INIT_OPS (2 * KEYS)
#define POOL (KEYS + OPERATIONS)
#define NODES "pool.h"
#define SET(place, value)            \
    do {                             \
        region_pair(&(place), 1);    \
        (place) = (value);           \
    } while (0)
#include "red-black.h"

#define MIRROR_BITS 64

static struct {
    word bits;
} ALIGNED mirror[KEYS / MIRROR_BITS + 1];
static lock_t lock;

static void reflect(word key)
{
    SET(mirror[key / MIRROR_BITS].bits, mirror[key / MIRROR_BITS].bits ^ (word)1 << key % MIRROR_BITS);
}

/* Returns the node that a deletion frees. */
static struct node *toggle(word key, word value)
{
    struct node *parent, *node = find(key, &parent), *gone = NULL;
    if (node)
        gone = delete(node);
    else
        insert(node_take(), parent, key, value);
    reflect(key);
    return gone;
}

void operation(void)
{
    struct node *gone[OPERATIONS];
    lock_take(&lock);
    region_begin();
    for (word i = 0; i < OPERATIONS; i++) {
        word key = random_below(KEYS);
        gone[i] = toggle(key, key << 32 | random_half());
    }
    region_end();
    lock_leave(&lock);
    for (word i = 0; i < OPERATIONS; i++)
        if (gone[i])
            node_give(gone[i]);
}

void build(void)
{
    pool_fill();
    lock_init(&lock);
    for (word i = 0; i < INIT_OPS / OPERATIONS; i++)
        operation();
}

int check(void)
{
    return black_nodes(tree.root, NULL, 0, KEYS) >= 0 && !is_red(tree.root);
}

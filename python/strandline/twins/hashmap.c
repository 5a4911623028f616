/* hashmap: StrandWeaver (ISCA 2020), Table II "Hashmap". Locks the bucket of a random key; at even odds reads its value,
 * or writes it, store by store. */
#include "txn.h"

#ifndef KEYS
#define KEYS 5000
#endif
#ifndef BUCKETS
#define BUCKETS 5000
#endif

#define LOADED 90
#define UPDATES 50
#define VALUE_WORDS 5
#define VERSION 8
#define SPREAD 0x9e3779b97f4a7c15
#define POOL KEYS

struct node {
    struct node *next;
    word key, value[VALUE_WORDS];
    word trailer;
} ALIGNED;

#include "pool.h"

static struct {
    struct node *first;
} ALIGNED heads[BUCKETS];
static lock_t locks[BUCKETS];

/* What a read has found. */
static volatile word buffer[VALUE_WORDS];

static word bucket(word key)
{
    return scaled_below(key * SPREAD, BUCKETS);
}

static struct node *find(word index, word key)
{
    struct node *node = heads[index].first;
    while (node && node->key != key)
        node = node->next;
    return node;
}

static void write_word(word *at, word value)
{
    region_pair(at, 1);
    *at = value;
}

static void write_value(struct node *node, word first)
{
    for (word i = 0; i < VALUE_WORDS; i++)
        write_word(&node->value[i], first + i);
}

static void update(word index, word key)
{
    struct node *node = find(index, key);
    if (node) {
        write_value(node, node->value[0] + VERSION);
        return;
    }
    node = node_take();
    region_pair(&node->next, 1);
    node->next = heads[index].first;
    write_word(&node->key, key);
    write_value(node, key << 32);
    region_pair(&heads[index].first, 1);
    heads[index].first = node;
}

void operation(void)
{
    word key = random_below(KEYS);
    int updates = random_below(100) < UPDATES;
    word index = bucket(key);
    lock_take(&locks[index]);
    if (updates) {
        region_begin();
        update(index, key);
        region_end();
    } else {
        struct node *node = find(index, key);
        for (word i = 0; node && i < VALUE_WORDS; i++)
            buffer[i] = node->value[i];
    }
    lock_leave(&locks[index]);
}

void build(void)
{
    pool_fill();
    for (word i = 0; i < BUCKETS; i++)
        lock_init(&locks[i]);
    for (word key = 0; key < KEYS; key++)
        if (random_below(100) < LOADED) {
            region_begin();
            update(bucket(key), key);
            region_end();
        }
}

/* Chains have keys of their buckets, whose values are whole. */
int check(void)
{
    for (word i = 0; i < BUCKETS; i++)
        for (struct node *node = heads[i].first; node; node = node->next)
            if (bucket(node->key) != i || node->value[0] >> 32 != node->key || node->value[4] != node->value[0] + 4)
                return 0;
    return 1;
}

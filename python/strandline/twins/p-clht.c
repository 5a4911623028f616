/* p-clht: ASAP (HPCA 2022), Table III, after RECIPE's P-CLHT (SOSP 2019). A bucket is a line: a lock, three keys, three
 * values, the next bucket. Inserts random keys, or searches them, half each. The table does not grow here. */
#include "map.h"

#ifndef BUCKETS
#define BUCKETS 8192
#endif
#ifndef POOL
#define POOL 8192
#endif
#ifndef INIT_OPS
#define INIT_OPS 2000
#endif

#define READS 50
#define SLOTS 3

struct node {
    word lock, keys[SLOTS], values[SLOTS];
    struct node *next;
} ALIGNED;

#include "pool.h"

static struct {
    word mask;
    struct node *buckets;
} table;
static volatile word found;

static struct node *chain(word key)
{
    return &table.buckets[hash_of(key) & table.mask];
}

static void search(word key)
{
    for (struct node *node = chain(key); node; node = node->next)
        for (int i = 0; i < SLOTS; i++) {
            word value = __atomic_load_n(&node->values[i], __ATOMIC_ACQUIRE);
            if (__atomic_load_n(&node->keys[i], __ATOMIC_ACQUIRE) == key &&
                __atomic_load_n(&node->values[i], __ATOMIC_ACQUIRE) == value) {
                found = value;
                return;
            }
        }
}

static void fill(struct node *node, int slot, word key, word value)
{
    node->values[slot] = value;
    map_flush(&node->values[slot]);
    map_fence();
    store_barrier();
    node->keys[slot] = key;
    map_flush(&node->keys[slot]);
}

static void extend(struct node *last, word key, word value)
{
    struct node *new = node_take();
    *new = (struct node){.keys = {key}, .values = {value}};
    map_flush(new);
    map_fence();
    store_barrier();
    last->next = new;
    map_flush(last);
}

static void put(struct node *first, word key, word value)
{
    struct node *node = first, *last, *free_node = NULL;
    int free_slot = 0;
    do {
        for (int i = 0; i < SLOTS; i++) {
            if (node->keys[i] == key) {
                node->values[i] = value;
                map_flush(&node->values[i]);
                return;
            }
            if (node->keys[i] == 0 && !free_node) {
                free_node = node;
                free_slot = i;
            }
        }
        last = node;
        node = node->next;
    } while (node);
    if (free_node)
        fill(free_node, free_slot, key, value);
    else
        extend(last, key, value);
}

static void insert(void)
{
    word key = draw_key(), value = draw_value(key);
    struct node *first = chain(key);
    word_lock(&first->lock, 1);
    put(first, key, value);
    map_fence();
    word_unlock(&first->lock);
}

void operation(void)
{
    if (random_below(100) < READS)
        search(draw_key());
    else
        insert();
}

void build(void)
{
    pool_fill();
    table.mask = BUCKETS - 1;
    table.buckets = lines(BUCKETS * sizeof(struct node));
    for (word i = 0; i < BUCKETS; i++)
        table.buckets[i] = (struct node){0};
    for (word i = 0; i < INIT_OPS; i++)
        insert();
}

int check(void)
{
    for (word i = 0; i < BUCKETS; i++)
        for (struct node *node = &table.buckets[i]; node; node = node->next)
            for (int k = 0; k < SLOTS; k++)
                if (node->keys[k] && (chain(node->keys[k]) != &table.buckets[i] ||
                                      !is_value_of(node->keys[k], node->values[k])))
                    return 0;
    return 1;
}

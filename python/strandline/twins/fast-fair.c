/* fast-fair: ASAP (HPCA 2022), Table III, after FAST and FAIR (FAST 2018). A B+-tree whose nodes are sorted records
 * behind a header. An insertion shifts greater records, pointer before key, and flushes each line that is complete. A
 * full node gives its upper half to a sibling. */
#include "map.h"

#ifndef LINES
#define LINES 8
#endif
#ifndef POOL
#define POOL 4096
#endif
#ifndef INIT_OPS
#define INIT_OPS 4000
#endif

#define RECORDS ((LINES - 1) * 4)
/* The record behind the last has no pointer. */
#define MOST (RECORDS - 1)
#define EXCLUSIVE UINT64_MAX

struct node {
    word leftmost;
    struct node *sibling;
    word level, count, shifts, lock, low;
    struct {
        word key, pointer;
    } records[RECORDS] ALIGNED;
} ALIGNED;

#include "pool.h"

static struct node *root;

static void node_flush(struct node *node, word bytes)
{
    for (word at = 0; at < bytes; at += LINE)
        map_flush((char *)node + at);
    map_fence();
}

static struct node *right(struct node *node, word key)
{
    struct node *sibling = node->sibling;
    return sibling && key >= sibling->low ? sibling : NULL;
}

static struct node *child(struct node *node, word key)
{
    word shifts, found;
    do {
        shifts = __atomic_load_n(&node->shifts, __ATOMIC_ACQUIRE);
        found = node->leftmost;
        for (word i = 0;; i++) {
            word least = __atomic_load_n(&node->records[i].key, __ATOMIC_ACQUIRE);
            word pointer = __atomic_load_n(&node->records[i].pointer, __ATOMIC_ACQUIRE);
            if (pointer == 0 || key < least)
                break;
            if (pointer != found)
                found = pointer;
        }
    } while (__atomic_load_n(&node->shifts, __ATOMIC_ACQUIRE) != shifts);
    return (struct node *)found;
}

/* Locks the node of a level that covers a key. */
static struct node *lock_node(word key, word level)
{
    struct node *node = root, *next;
    for (;;) {
        while ((next = right(node, key)))
            node = next;
        if (node->level == level)
            break;
        node = child(node, key);
    }
    word_lock(&node->lock, EXCLUSIVE);
    while ((next = right(node, key))) {
        word_unlock(&node->lock);
        node = next;
        word_lock(&node->lock, EXCLUSIVE);
    }
    return node;
}

static word pointer_before(struct node *node, word i)
{
    return i == 0 ? node->leftmost : node->records[i - 1].pointer;
}

/* A line is durable before the shift goes on in the next. */
static void line_ends(struct node *node, word i)
{
    if ((uintptr_t)&node->records[i] % LINE == 0) {
        map_flush(&node->records[i]);
        map_fence();
    }
}

static void shift_in(struct node *node, word key, word pointer)
{
    word i = node->count;
    if (node->shifts & 1)
        node->shifts++;
    store_barrier();
    node->records[i + 1].pointer = 0;
    line_ends(node, i + 1);
    store_barrier();
    for (; i > 0 && key < node->records[i - 1].key; i--) {
        node->records[i].pointer = pointer_before(node, i);
        store_barrier();
        node->records[i].key = node->records[i - 1].key;
        line_ends(node, i);
        store_barrier();
    }
    node->records[i].pointer = pointer_before(node, i);
    store_barrier();
    node->records[i].key = key;
    store_barrier();
    node->records[i].pointer = pointer;
    map_flush(&node->records[i]);
    node->count++;
}

static void grow(struct node *old, word key, struct node *sibling)
{
    struct node *new = node_take();
    new->leftmost = (word)old;
    new->sibling = NULL;
    new->level = old->level + 1;
    new->count = 1;
    new->shifts = new->lock = new->low = 0;
    new->records[0].key = key;
    new->records[0].pointer = (word)sibling;
    new->records[1].pointer = 0;
    node_flush(new, 2 * LINE);
    root = new;
    map_flush(&root);
    map_fence();
}

static struct node *copy_upper(struct node *node)
{
    struct node *new = node_take();
    word half = MOST / 2, from = half, to = 0;
    new->leftmost = node->level == 0 ? 0 : node->records[from++].pointer;
    for (; from < node->count; from++)
        new->records[to++] = node->records[from];
    new->records[to].pointer = 0;
    new->sibling = node->sibling;
    new->level = node->level;
    new->count = to;
    new->shifts = 0;
    new->lock = EXCLUSIVE;
    new->low = node->records[half].key;
    node_flush(new, sizeof *new);
    return new;
}

/* Splits a full node and inserts; returns the sibling that its parent gets, if it has a parent. */
static struct node *split(struct node *node, word key, word pointer)
{
    struct node *new = copy_upper(node);
    node->sibling = new;
    map_flush(node);
    map_fence();
    node->records[MOST / 2].pointer = 0;
    node->count = MOST / 2;
    map_flush(&node->records[MOST / 2]);
    map_fence();
    shift_in(key < new->low ? node : new, key, pointer);
    map_fence();
    word_unlock(&new->lock);
    if (node != root)
        return new;
    grow(node, new->low, new);
    return NULL;
}

/* The record of a key in a locked node, or the end. */
static word find(struct node *node, word key)
{
    word i = 0;
    while (node->records[i].pointer && node->records[i].key != key)
        i++;
    return i;
}

static void insert(word key, word pointer)
{
    for (word level = 0;; level++) {
        struct node *node = lock_node(key, level), *new = NULL;
        word i = find(node, key);
        if (node->records[i].pointer) {
            node->records[i].pointer = pointer;
            map_flush(&node->records[i]);
        } else if (node->count < MOST) {
            shift_in(node, key, pointer);
        } else {
            new = split(node, key, pointer);
        }
        map_fence();
        word_unlock(&node->lock);
        if (!new)
            return;
        key = new->low;
        pointer = (word)new;
    }
}

void operation(void)
{
    word key = draw_key();
    insert(key, draw_value(key));
}

void build(void)
{
    pool_fill();
    root = node_take();
    *root = (struct node){0};
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

/* The leaves are sorted, with values of their keys. */
int check(void)
{
    struct node *node = root;
    word last = 0;
    while (node->level > 0)
        node = (struct node *)node->leftmost;
    for (; node; node = node->sibling)
        for (word i = 0; i < node->count; i++) {
            if (node->records[i].key <= last || !is_value_of(node->records[i].key, node->records[i].pointer))
                return 0;
            last = node->records[i].key;
        }
    return 1;
}

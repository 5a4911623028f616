/* Nodes of one thread, a line each: from aligned_alloc, or from a ring of free ones. "A deleted node is not immediately
 * garbage collected" (Speculative Persistence, ISCA 2017, 5.2): it is freed at the next deletion, or is taken last. The
 * program defines `struct node`, and POOL, the number of nodes, before. */
#ifndef LINES_H
#define LINES_H

#include "twin.h"

#ifdef GLIBC

static struct node *deleted;

#define pool_fill() ((void)0)

static inline struct node *node_take(void)
{
    return aligned_alloc(LINE, sizeof(struct node));
}

static inline void node_give(struct node *node)
{
    free(deleted);
    deleted = node;
}

#else

static struct node pool[POOL];
static struct node *pool_free[POOL];
static word pool_first, pool_end, pool_count;

static void pool_fill(void)
{
    for (word i = 0; i < POOL; i++)
        pool_free[i] = &pool[i];
    pool_count = POOL;
}

static inline struct node *node_take(void)
{
    struct node *node = pool_free[pool_first];
    pool_first = pool_first + 1 == POOL ? 0 : pool_first + 1;
    pool_count--;
    return node;
}

static inline void node_give(struct node *node)
{
    pool_free[pool_end] = node;
    pool_end = pool_end + 1 == POOL ? 0 : pool_end + 1;
    pool_count++;
}

#endif

#endif

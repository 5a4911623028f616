/* Nodes of several threads: from malloc, or from a stack of free ones under a lock, as malloc's arenas have one.
 * The program defines `struct node` and POOL, the number of nodes, before. */
#ifndef POOL_H
#define POOL_H

#include "twin.h"

#ifdef GLIBC

#define pool_fill() ((void)0)

/* A node begins in a line of its own where it is flushed. */
static inline struct node *node_take(void)
{
#ifdef LOGGED
    return aligned_alloc(LINE, sizeof(struct node));
#else
    return malloc(sizeof(struct node));
#endif
}

static inline void node_give(struct node *node)
{
    free(node);
}

#else

static struct node pool[POOL];
static struct node *pool_free[POOL];
static word pool_count;
static lock_t pool_lock;

static void pool_fill(void)
{
    for (word i = 0; i < POOL; i++)
        pool_free[pool_count++] = &pool[POOL - 1 - i];
}

static inline struct node *node_take(void)
{
    struct node *node = NULL;
    lock_take(&pool_lock);
    if (pool_count > 0)
        node = pool_free[--pool_count];
    lock_leave(&pool_lock);
    return node;
}

static inline void node_give(struct node *node)
{
    lock_take(&pool_lock);
    pool_free[pool_count++] = node;
    lock_leave(&pool_lock);
}

#endif

#endif

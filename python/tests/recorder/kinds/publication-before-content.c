/* A node is linked into a list before its contents are durable. */
#include "pool.h"

struct node {
    LINE uint64_t key;
    uint64_t next; /* a node's number, 0 for none */
};

struct pool {
    LINE uint64_t head;
    struct node nodes[6];
};

static void run(void *at) {
    struct pool *pool = at;
    for (uint64_t number = 1; number < 6; number++) {
        struct node *node = &pool->nodes[number];
        node->key = 10 * number; /* HERE */
        node->next = pool->head;
#ifdef MENDED
        persist(node, sizeof *node);
#endif
        __atomic_store_n(&pool->head, number, __ATOMIC_RELEASE);
        flush(&pool->head);
#ifndef MENDED
        flush_all(node, sizeof *node);
#endif
        fence();
    }
}

static int check(void *at) {
    struct pool *pool = at;
    for (uint64_t number = pool->head; number != 0; number = pool->nodes[number].next) {
        if (number >= 6 || pool->nodes[number].key != 10 * number || pool->nodes[number].next != number - 1) {
            return 1;
        }
    }
    return 0;
}

PROGRAM(sizeof(struct pool))

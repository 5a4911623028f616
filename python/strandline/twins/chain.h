/* Sorted linked lists: linked-list, and the edges of each vertex of graph. Speculative Persistence (ISCA 2017), 3.1.1
 * and Figure 2: the node before the changed one is logged. The program defines POOL before. */
#ifndef CHAIN_H
#define CHAIN_H

#include "wal.h"

struct node {
    struct node *next;
    word key, value;
} ALIGNED;

#include "lines.h"

static word node_count;

/* Deletes the key's node, or inserts one if there is none and not too many are. A head is a node without a key. */
static void toggle(struct node *before, word key)
{
    struct node *node = before->next;
    while (node && node->key < key) {
        before = node;
        node = node->next;
    }
    if (node && node->key == key) {
        region_log(before, LINE - 8);
        region_order();
        before->next = node->next;
        region_finish();
        node_give(node);
        node_count--;
        return;
    }
    if (node_count == POOL)
        return;
    node_count++;
    struct node *new = node_take();
    region_log(before, LINE - 8);
    region_fresh(new);
    region_order();
    new->next = node;
    new->key = key;
    new->value = key + 1;
    before->next = new;
    region_finish();
}

static int is_sorted(struct node *head)
{
    for (struct node *node = head->next; node; node = node->next)
        if (node->value != node->key + 1 || (node->next && node->next->key <= node->key))
            return 0;
    return 1;
}

#endif

/* sp-rb-tree: Speculative Persistence (ISCA 2017), Table 1 "RB-tree", and 3.2. Searches a random key, then inserts or
 * deletes it. Full logging: the path with siblings, and for a deletion the siblings' children. */
#include "wal.h"

#ifndef KEYS
#define KEYS 4096
#endif
#ifndef INIT_OPS
#define INIT_OPS 8000
#endif

#define POOL KEYS
#define NODES "lines.h"
#define SET(place, value) ((place) = (value))
#include "red-black.h"

#ifdef LOGGED
static void log_node(struct node *node)
{
    if (node)
        region_log(node, 48);
}

static void log_children(struct node *node)
{
    if (node) {
        log_node(node->left);
        log_node(node->right);
    }
}

/* Logs what an insertion where the path ends may write, or the removal of `found`. */
static void log_path(word key, struct node *found)
{
    region_log(&tree, 16);
    for (struct node *node = tree.root; node;) {
        log_node(node);
        int goes_left = node == found ? !node->right : key < node->key;
        struct node *next = goes_left ? node->left : node->right, *sibling = goes_left ? node->right : node->left;
        log_node(sibling);
        if (found) {
            log_children(sibling);
            if (is_red(sibling))
                log_children(goes_left ? sibling->left : sibling->right);
        }
        node = next;
    }
}
#else
#define log_path(key, found) ((void)0)
#endif

void operation(void)
{
    word key = random_below(KEYS), value = key << 32 | random_half();
    struct node *parent, *found = find(key, &parent);
    log_path(key, found);
    if (found) {
        region_order();
        node_give(delete(found));
    } else {
        struct node *new = node_take();
        region_fresh(new);
        region_order();
        insert(new, parent, key, value);
    }
    region_finish();
}

void build(void)
{
    pool_fill();
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

int check(void)
{
    return black_nodes(tree.root, NULL, 0, KEYS) >= 0 && !is_red(tree.root);
}

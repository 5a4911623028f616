/* b-tree: Speculative Persistence (ISCA 2017), Table 1 "B-tree", 3.2 and Figures 4 and 5: a 2-3 tree with its data in
 * the leaves. "The tree is traversed recursively from the root to the appropriate leaf." Searches a random key, then
 * inserts or deletes it. Full logging: the path, and for a deletion a sibling of each node on it. */
#include "wal.h"

#ifndef KEYS
#define KEYS 4096
#endif
#ifndef INIT_OPS
#define INIT_OPS 8000
#endif

#define MOST 3

/* An inner node has two or three children, and a key before each but the first; for a moment one, or four. */
struct node {
    struct node *children[MOST + 1];
    word keys[MOST];
    word count;
} ALIGNED;

/* A leaf has a key and a value, in a line as well. */
struct leaf {
    word key, value;
};

#define POOL (2 * KEYS)
#include "lines.h"

static struct {
    struct node *root;
    word height, size;
} tree ALIGNED;

static struct leaf *leaf(struct node *node)
{
    return (struct leaf *)node;
}

static word position(struct node *node, word key)
{
    word i = 0;
    while (i + 1 < node->count && key >= node->keys[i])
        i++;
    return i;
}

static void add_child(struct node *node, word at, struct node *child, word key)
{
    for (word i = node->count; i > at; i--) {
        node->children[i] = node->children[i - 1];
        if (i > 1)
            node->keys[i - 1] = node->keys[i - 2];
    }
    node->children[at] = child;
    node->keys[at > 0 ? at - 1 : 0] = key;
    node->count++;
}

/* Removes a child with the key before it, or behind it if it is the first. */
static void remove_child(struct node *node, word at)
{
    for (word i = at; i + 1 < node->count; i++)
        node->children[i] = node->children[i + 1];
    for (word i = at > 0 ? at - 1 : 0; i + 2 < node->count; i++)
        node->keys[i] = node->keys[i + 1];
    node->count--;
}

static struct node *split(struct node *node, word *key)
{
    struct node *half = node_take();
    region_fresh(half);
    *key = node->keys[1];
    half->count = 2;
    half->children[0] = node->children[2];
    half->children[1] = node->children[3];
    half->keys[0] = node->keys[2];
    node->count = 2;
    return half;
}

/* Inserts a leaf below `node`. The new node to its right, if there is one, has keys from `*between` on. */
static struct node *insert(struct node *node, word height, struct node *new, word *between)
{
    if (height == 0) {
        word key = leaf(new)->key;
        if (key > leaf(node)->key) {
            *between = key;
            return new;
        }
        /* The parent keeps its link: the two change places. */
        *between = leaf(node)->key;
        struct leaf old = *leaf(node);
        *leaf(node) = *leaf(new);
        *leaf(new) = old;
        return new;
    }
    word i = position(node, leaf(new)->key);
    struct node *half = insert(node->children[i], height - 1, new, between);
    if (!half)
        return NULL;
    add_child(node, i + 1, half, *between);
    return node->count > MOST ? split(node, between) : NULL;
}

/* The child at `i` has a single child: it gets one of its sibling, or goes into it. */
static void fill_up(struct node *node, word i)
{
    struct node *child = node->children[i];
    word left = i > 0 ? i - 1 : i;
    struct node *sibling = node->children[i > 0 ? i - 1 : 1];
    word between = node->keys[left];
    if (sibling->count < MOST) {
        if (i > 0)
            add_child(sibling, sibling->count, child->children[0], between);
        else
            add_child(sibling, 0, child->children[0], between);
        remove_child(node, i);
        node_give(child);
    } else if (i > 0) {
        node->keys[left] = sibling->keys[1];
        add_child(child, 0, sibling->children[2], between);
        remove_child(sibling, 2);
    } else {
        node->keys[left] = sibling->keys[0];
        add_child(child, 1, sibling->children[0], between);
        remove_child(sibling, 0);
    }
}

static void delete(struct node *node, word height, word key)
{
    word i = position(node, key);
    if (height == 1) {
        node_give(node->children[i]);
        remove_child(node, i);
        return;
    }
    delete(node->children[i], height - 1, key);
    if (node->children[i]->count == 1)
        fill_up(node, i);
}

static struct node *find(struct node *node, word height, word key)
{
    return height == 0 ? node : find(node->children[position(node, key)], height - 1, key);
}

#ifdef LOGGED
static void log_path(word key, int deletes)
{
    struct node *node = tree.root;
    region_log(&tree, 24);
    for (word height = tree.height; height > 0; height--) {
        region_log(node, LINE);
        word i = position(node, key);
        if (deletes && height > 1)
            region_log(node->children[i > 0 ? i - 1 : 1], LINE);
        node = node->children[i];
    }
    if (node)
        region_log(node, 16);
}
#else
#define log_path(key, deletes) ((void)0)
#endif

static void insert_key(word key, word value)
{
    struct node *new = node_take();
    region_fresh(new);
    leaf(new)->key = key;
    leaf(new)->value = value;
    if (!tree.root) {
        tree.root = new;
        return;
    }
    word between;
    struct node *half = insert(tree.root, tree.height, new, &between);
    if (half) {
        struct node *root = node_take();
        region_fresh(root);
        root->count = 2;
        root->children[0] = tree.root;
        root->children[1] = half;
        root->keys[0] = between;
        tree.root = root;
        tree.height++;
    }
}

static void delete_key(word key)
{
    if (tree.height == 0) {
        node_give(tree.root);
        tree.root = NULL;
        return;
    }
    delete(tree.root, tree.height, key);
    if (tree.root->count == 1) {
        struct node *root = tree.root;
        tree.root = root->children[0];
        tree.height--;
        node_give(root);
    }
}

void operation(void)
{
    word key = random_below(KEYS), value = key << 32 | random_half();
    struct node *node = tree.root ? find(tree.root, tree.height, key) : NULL;
    int is_there = node && leaf(node)->key == key;
    log_path(key, is_there);
    region_order();
    if (is_there) {
        delete_key(key);
        tree.size--;
    } else {
        insert_key(key, value);
        tree.size++;
    }
    region_finish();
}

void build(void)
{
    pool_fill();
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

/* How many leaves a subtree has, with keys from `low` to below `high`; more than all if it is not whole. */
static word leaves(struct node *node, word height, word low, word high)
{
    if (height == 0)
        return leaf(node)->key >= low && leaf(node)->key < high ? 1 : 2 * KEYS;
    word sum = node->count < 2 || node->count > MOST ? 2 * KEYS : 0;
    for (word i = 0; i < node->count; i++) {
        word to = i + 1 < node->count ? node->keys[i] : high;
        sum += leaves(node->children[i], height - 1, low, to);
        low = to;
    }
    return sum;
}

int check(void)
{
    return tree.root ? leaves(tree.root, tree.height, 0, KEYS) == tree.size : tree.size == 0;
}

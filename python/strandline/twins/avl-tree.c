/* avl-tree: Speculative Persistence (ISCA 2017), Table 1 "AVL-tree", and 3.2. Searches a random key, then inserts or
 * deletes it recursively. Full logging: the path, and for a deletion each sibling on it with its inner child. */
#include "wal.h"

#ifndef KEYS
#define KEYS 4096
#endif
#ifndef INIT_OPS
#define INIT_OPS 8000
#endif

struct node {
    word key, value;
    struct node *left, *right;
    word height;
} ALIGNED;

#define POOL KEYS
#include "lines.h"

static struct {
    struct node *root;
    word size;
} tree ALIGNED;

static word height(struct node *node)
{
    return node ? node->height : 0;
}

static void set_height(struct node *node)
{
    word left = height(node->left), right = height(node->right);
    node->height = (left > right ? left : right) + 1;
}

static struct node *rotate_right(struct node *node)
{
    struct node *top = node->left;
    node->left = top->right;
    top->right = node;
    set_height(node);
    set_height(top);
    return top;
}

static struct node *rotate_left(struct node *node)
{
    struct node *top = node->right;
    node->right = top->left;
    top->left = node;
    set_height(node);
    set_height(top);
    return top;
}

static struct node *balance(struct node *node)
{
    set_height(node);
    if (height(node->left) > height(node->right) + 1) {
        if (height(node->left->left) < height(node->left->right))
            node->left = rotate_left(node->left);
        return rotate_right(node);
    }
    if (height(node->right) > height(node->left) + 1) {
        if (height(node->right->right) < height(node->right->left))
            node->right = rotate_right(node->right);
        return rotate_left(node);
    }
    return node;
}

static struct node *insert(struct node *node, struct node *new)
{
    if (!node)
        return new;
    if (new->key < node->key)
        node->left = insert(node->left, new);
    else
        node->right = insert(node->right, new);
    return balance(node);
}

static struct node *least(struct node *node)
{
    while (node->left)
        node = node->left;
    return node;
}

static struct node *delete(struct node *node, word key)
{
    if (key < node->key) {
        node->left = delete(node->left, key);
    } else if (key > node->key) {
        node->right = delete(node->right, key);
    } else if (!node->left || !node->right) {
        struct node *child = node->left ? node->left : node->right;
        node_give(node);
        return child;
    } else {
        struct node *next = least(node->right);
        node->key = next->key;
        node->value = next->value;
        node->right = delete(node->right, next->key);
    }
    return balance(node);
}

static struct node *find(word key)
{
    struct node *node = tree.root;
    while (node && node->key != key)
        node = key < node->key ? node->left : node->right;
    return node;
}

#ifdef LOGGED
static void log_node(struct node *node)
{
    if (node)
        region_log(node, 40);
}

/* Logs what a rotation moves if the subtree on the path loses a level. */
static void log_sibling(struct node *sibling, int is_right)
{
    log_node(sibling);
    if (sibling)
        log_node(is_right ? sibling->left : sibling->right);
}

/* `found` is the node that is deleted, or none. Behind it, the path leads to the next key. */
static void log_path(word key, struct node *found)
{
    region_log(&tree, 16);
    for (struct node *node = tree.root; node;) {
        log_node(node);
        int goes_left = node == found ? !node->right : key < node->key;
        if (found)
            log_sibling(goes_left ? node->right : node->left, goes_left);
        node = goes_left ? node->left : node->right;
    }
}
#else
#define log_path(key, found) ((void)0)
#endif

void operation(void)
{
    word key = random_below(KEYS), value = key << 32 | random_half();
    struct node *found = find(key);
    log_path(key, found);
    if (found) {
        region_order();
        tree.root = delete(tree.root, key);
        tree.size--;
    } else {
        struct node *new = node_take();
        region_fresh(new);
        region_order();
        *new = (struct node){.key = key, .value = value, .height = 1};
        tree.root = insert(tree.root, new);
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

/* The height of a subtree that is balanced, with keys from `low` to below `high`; otherwise -1. */
static long subtree(struct node *node, word low, word high)
{
    if (!node)
        return 0;
    long left = subtree(node->left, low, node->key), right = subtree(node->right, node->key + 1, high);
    int is_right = node->key >= low && node->key < high && left >= 0 && right >= 0 && labs(left - right) <= 1;
    return is_right && (long)node->height == (left > right ? left : right) + 1 ? (long)node->height : -1;
}

int check(void)
{
    return subtree(tree.root, 0, KEYS) >= 0;
}

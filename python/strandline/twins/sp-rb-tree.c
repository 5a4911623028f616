/* sp-rb-tree: Speculative Persistence (ISCA 2017), Table 1 "RB-tree", and 3.2. Searches a random key, then inserts or
 * deletes it recursively, by the cases of Cormen, Leiserson, Rivest and Stein ("Introduction to Algorithms", 13). Full
 * logging: the path with siblings, and for a deletion what making up for a black node may write below them. */
#include "wal.h"

#ifndef KEYS
#define KEYS 4096
#endif
#ifndef INIT_OPS
#define INIT_OPS 8000
#endif

enum colour { BLACK, RED };
enum side { LEFT, RIGHT };

/* NULL is a leaf, and black. */
struct node {
    word key, value;
    struct node *children[2];
    word colour;
} ALIGNED;

#define POOL KEYS
#include "lines.h"

static struct {
    struct node *root;
    word size;
} tree ALIGNED;

static int is_red(struct node *node)
{
    return node && node->colour == RED;
}

static struct node *find(word key)
{
    struct node *node = tree.root;
    while (node && node->key != key)
        node = node->children[key < node->key ? LEFT : RIGHT];
    return node;
}

/* The child on `side` takes the place of its parent. */
static struct node *rotate(struct node *node, enum side side)
{
    struct node *top = node->children[side];
    node->children[side] = top->children[!side];
    top->children[!side] = node;
    return top;
}

/* The child on `side` may be red and have a red child. */
static struct node *part(struct node *node, enum side side)
{
    struct node *child = node->children[side], *uncle = node->children[!side];
    if (!is_red(child))
        return node;
    enum side below = is_red(child->children[side]) ? side : !side;
    if (!is_red(child->children[below]))
        return node;
    if (is_red(uncle)) {
        child->colour = uncle->colour = BLACK;
        node->colour = RED;
        return node;
    }
    if (below != side)
        node->children[side] = rotate(child, below);
    struct node *top = rotate(node, side);
    top->colour = BLACK;
    node->colour = RED;
    return top;
}

static struct node *insert(struct node *node, struct node *new)
{
    if (!node)
        return new;
    enum side side = new->key < node->key ? LEFT : RIGHT;
    node->children[side] = insert(node->children[side], new);
    return part(node, side);
}

/* Paths through the child on `side` lack a black node; its sibling is black. */
static struct node *make_up_black(struct node *node, enum side side, int *lacks)
{
    struct node *sibling = node->children[!side];
    struct node *near = sibling->children[side], *far = sibling->children[!side];
    word colour = node->colour;
    node->colour = BLACK;
    if (!is_red(near) && !is_red(far)) {
        sibling->colour = RED;
        *lacks = colour == BLACK;
        return node;
    }
    *lacks = 0;
    if (is_red(far))
        far->colour = BLACK;
    else
        node->children[!side] = rotate(sibling, side);
    struct node *top = rotate(node, !side);
    top->colour = colour;
    return top;
}

static struct node *make_up(struct node *node, enum side side, int *lacks)
{
    if (!*lacks)
        return node;
    if (!is_red(node->children[!side]))
        return make_up_black(node, side, lacks);
    struct node *top = rotate(node, !side);
    top->colour = BLACK;
    node->colour = RED;
    top->children[side] = make_up_black(node, side, lacks);
    return top;
}

static struct node *least(struct node *node)
{
    while (node->children[LEFT])
        node = node->children[LEFT];
    return node;
}

static struct node *delete(struct node *node, word key, int *lacks)
{
    enum side side = key < node->key ? LEFT : RIGHT;
    if (node->key == key) {
        struct node *left = node->children[LEFT], *right = node->children[RIGHT];
        if (!left || !right) {
            struct node *child = left ? left : right;
            *lacks = node->colour == BLACK && !child;
            /* An only child is red. */
            if (child)
                child->colour = BLACK;
            node_give(node);
            return child;
        }
        struct node *next = least(right);
        key = node->key = next->key;
        node->value = next->value;
    }
    node->children[side] = delete(node->children[side], key, lacks);
    return make_up(node, side, lacks);
}

#ifdef LOGGED
static void log_node(struct node *node)
{
    if (node)
        region_log(node, 40);
}

/* Logs what making up for a black node on `side` may write below the sibling. */
static void log_below(struct node *sibling, enum side side)
{
    struct node *near = sibling->children[side];
    log_node(near);
    if (!is_red(sibling)) {
        log_node(sibling->children[!side]);
    } else if (near) {
        log_node(near->children[LEFT]);
        log_node(near->children[RIGHT]);
    }
}

/* Logs what an insertion where the path ends may write, or the removal of `found`. */
static void log_path(word key, struct node *found)
{
    region_log(&tree, 16);
    for (struct node *node = tree.root; node;) {
        log_node(node);
        int goes_left = node == found ? !node->children[RIGHT] : key < node->key;
        enum side side = goes_left ? LEFT : RIGHT;
        struct node *sibling = node->children[!side];
        log_node(sibling);
        if (sibling && found)
            log_below(sibling, side);
        node = node->children[side];
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
        int lacks = 0;
        region_order();
        tree.root = delete(tree.root, key, &lacks);
        tree.size--;
    } else {
        struct node *new = node_take();
        region_fresh(new);
        region_order();
        *new = (struct node){.key = key, .value = value, .colour = RED};
        tree.root = insert(tree.root, new);
        tree.root->colour = BLACK;
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

/* The black nodes on each path of a subtree that is whole, with keys from `low` to below `high`; otherwise -1. */
static long black_nodes(struct node *node, int parent_is_red, word low, word high)
{
    if (!node)
        return 0;
    long left = black_nodes(node->children[LEFT], is_red(node), low, node->key);
    long right = black_nodes(node->children[RIGHT], is_red(node), node->key + 1, high);
    int is_whole = node->key >= low && node->key < high && left >= 0 && left == right;
    return is_whole && !(parent_is_red && is_red(node)) ? left + (node->colour == BLACK) : -1;
}

int check(void)
{
    return black_nodes(tree.root, 1, 0, KEYS) >= 0;
}

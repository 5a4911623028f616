/* A red-black tree with links to parents: Cormen, Leiserson, Rivest and Stein, "Introduction to Algorithms", chapter 13.
 * NULL is a leaf. A node with two children takes the key and value of the next node, which is removed. The program
 * defines POOL, and SET(place, value), by which every store is made, before. */
#ifndef RED_BLACK_H
#define RED_BLACK_H

#include "twin.h"

enum colour { BLACK, RED };

struct node {
    word key;
    struct node *left, *right, *parent;
    word colour, value;
} ALIGNED;

#include NODES

static struct {
    struct node *root;
    word size;
} tree ALIGNED;

static int is_red(struct node *node)
{
    return node && node->colour == RED;
}

static struct node *find(word key, struct node **parent)
{
    struct node *node = tree.root;
    *parent = NULL;
    while (node && node->key != key) {
        *parent = node;
        node = key < node->key ? node->left : node->right;
    }
    return node;
}

/* Puts `child` in the place of `node`. */
static void replace(struct node *node, struct node *child)
{
    if (!node->parent)
        SET(tree.root, child);
    else if (node == node->parent->left)
        SET(node->parent->left, child);
    else
        SET(node->parent->right, child);
}

static void rotate_left(struct node *node)
{
    struct node *top = node->right;
    SET(node->right, top->left);
    if (top->left)
        SET(top->left->parent, node);
    SET(top->parent, node->parent);
    replace(node, top);
    SET(top->left, node);
    SET(node->parent, top);
}

static void rotate_right(struct node *node)
{
    struct node *top = node->left;
    SET(node->left, top->right);
    if (top->right)
        SET(top->right->parent, node);
    SET(top->parent, node->parent);
    replace(node, top);
    SET(top->right, node);
    SET(node->parent, top);
}

static void insert_fixup(struct node *node)
{
    while (is_red(node->parent)) {
        struct node *grand = node->parent->parent;
        int is_left = node->parent == grand->left;
        struct node *uncle = is_left ? grand->right : grand->left;
        if (is_red(uncle)) {
            SET(node->parent->colour, BLACK);
            SET(uncle->colour, BLACK);
            SET(grand->colour, RED);
            node = grand;
        } else if (is_left) {
            if (node == node->parent->right) {
                node = node->parent;
                rotate_left(node);
            }
            SET(node->parent->colour, BLACK);
            SET(grand->colour, RED);
            rotate_right(grand);
        } else {
            if (node == node->parent->left) {
                node = node->parent;
                rotate_right(node);
            }
            SET(node->parent->colour, BLACK);
            SET(grand->colour, RED);
            rotate_left(grand);
        }
    }
    if (tree.root->colour == RED)
        SET(tree.root->colour, BLACK);
}

static void insert(struct node *node, struct node *parent, word key, word value)
{
    SET(node->key, key);
    SET(node->left, NULL);
    SET(node->right, NULL);
    SET(node->parent, parent);
    SET(node->value, value);
    SET(node->colour, RED);
    if (!parent)
        SET(tree.root, node);
    else if (key < parent->key)
        SET(parent->left, node);
    else
        SET(parent->right, node);
    insert_fixup(node);
    SET(tree.size, tree.size + 1);
}

/* Paths through `node`, a child of `parent`, have a black node too few. */
static void delete_fixup(struct node *node, struct node *parent)
{
    while (parent && !is_red(node)) {
        int is_left = node == parent->left;
        struct node *sibling = is_left ? parent->right : parent->left;
        if (is_red(sibling)) {
            SET(sibling->colour, BLACK);
            SET(parent->colour, RED);
            if (is_left)
                rotate_left(parent);
            else
                rotate_right(parent);
            sibling = is_left ? parent->right : parent->left;
        }
        if (!is_red(sibling->left) && !is_red(sibling->right)) {
            SET(sibling->colour, RED);
            node = parent;
            parent = node->parent;
            continue;
        }
        if (is_left) {
            if (!is_red(sibling->right)) {
                SET(sibling->left->colour, BLACK);
                SET(sibling->colour, RED);
                rotate_right(sibling);
                sibling = parent->right;
            }
            SET(sibling->colour, parent->colour);
            SET(parent->colour, BLACK);
            SET(sibling->right->colour, BLACK);
            rotate_left(parent);
        } else {
            if (!is_red(sibling->left)) {
                SET(sibling->right->colour, BLACK);
                SET(sibling->colour, RED);
                rotate_left(sibling);
                sibling = parent->left;
            }
            SET(sibling->colour, parent->colour);
            SET(parent->colour, BLACK);
            SET(sibling->left->colour, BLACK);
            rotate_right(parent);
        }
        return;
    }
    if (node && node->colour == RED)
        SET(node->colour, BLACK);
}

/* Returns the node that is removed. */
static struct node *delete(struct node *node)
{
    struct node *gone = node;
    if (node->left && node->right) {
        for (gone = node->right; gone->left; gone = gone->left)
            ;
        SET(node->key, gone->key);
        SET(node->value, gone->value);
    }
    struct node *child = gone->left ? gone->left : gone->right, *parent = gone->parent;
    if (child)
        SET(child->parent, parent);
    replace(gone, child);
    if (gone->colour == BLACK)
        delete_fixup(child, parent);
    SET(tree.size, tree.size - 1);
    return gone;
}

/* The black nodes on each path of a subtree that is whole; otherwise -1. */
static long black_nodes(struct node *node, struct node *parent, word low, word high)
{
    if (!node)
        return 0;
    long left = black_nodes(node->left, node, low, node->key), right = black_nodes(node->right, node, node->key + 1, high);
    int is_whole = node->parent == parent && node->key >= low && node->key < high && left >= 0 && left == right;
    return is_whole && !(is_red(node) && is_red(parent)) ? left + (node->colour == BLACK) : -1;
}

#endif

/* A node is linked into a list. Its contents must be durable before the link. */
#include "pool.h"
enum { RIGHT, CAS, MADFS, LINK_FIRST, ONE_FENCE, FLUSHED_LATE, FIELD_LATE };

struct node {
    LINE word key;
    word next; /* a node's number, 0 for none */
};

struct pool {
    LINE word head;
    struct node nodes[5];
};

static void link_node(struct pool *p, uint64_t number) {
    if (HOW == CAS || HOW == MADFS) {
        uint64_t before = number - 1; /* the CAS fences what was flushed before it, so that MADFS needs no fence of its own */
        __atomic_compare_exchange_n(&p->head, &before, number, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    } else {
        p->head = number; /* BUG: LINK_FIRST FIELD_LATE */
    }
    flush(&p->head);
}

static void run(struct pool *p) {
    for (uint64_t number = 1; number < 5; number++) {
        struct node *node = &p->nodes[number];
        if (HOW == LINK_FIRST) link_node(p, number);
        if (HOW == LINK_FIRST) fence();
        if (HOW != FIELD_LATE) node->key = 10 * number; /* BUG: LINK_FIRST ONE_FENCE FLUSHED_LATE */
        node->next = number - 1; /* BUG: LINK_FIRST ONE_FENCE FLUSHED_LATE */
        if (HOW != FLUSHED_LATE) flush(node);
        if (HOW == RIGHT || HOW == CAS || HOW == LINK_FIRST || HOW == FIELD_LATE) fence();
        if (HOW != LINK_FIRST) link_node(p, number);
        if (HOW == FLUSHED_LATE) flush(node);
        if (HOW != LINK_FIRST) fence();
        if (HOW == FIELD_LATE) node->key = 10 * number; /* BUG: FIELD_LATE */
        if (HOW == FIELD_LATE) persist(node, 8);
    }
}

static void check(struct pool *p) {
    for (uint64_t number = p->head; number != 0; number = p->nodes[number].next) {
        REQUIRE(number < 5 && p->nodes[number].key == 10 * number && p->nodes[number].next == number - 1);
    }
}

PROGRAM

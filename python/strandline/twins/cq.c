/* cq: COSPlay (MICRO 2021), Table 3 "CQ"; DPO (MICRO 2016), Table III "Conc. queue". Pushes a filled node to a random
 * queue, or pops one, at even odds. A node is the next node and 64 items, in five lines. */
#include "undo.h"

#ifndef QUEUES
#define QUEUES 16
#endif
#ifndef NODES
#define NODES 64
#endif

#define POOL (QUEUES * NODES)
#define NODE_LINES 5
#define ITEMS 64
#define LINE_ITEMS 14
#define FIRST_ITEMS 12

/* The first line has the next node and twelve items, the others fourteen each. */
struct node {
    struct node *next;
    uint32_t first[FIRST_ITEMS];
    word trailer;
    struct {
        uint32_t items[LINE_ITEMS];
        word trailer;
    } rest[NODE_LINES - 1];
} ALIGNED;

#include "pool.h"

struct queue {
    struct node *head, *tail;
    word count;
    word unused[4];
    word trailer;
} ALIGNED;

static struct queue queues[QUEUES];
static lock_t locks[QUEUES];

static void fill(struct node *node, uint32_t value)
{
    node->next = NULL;
    for (int i = 0; i < FIRST_ITEMS; i++)
        node->first[i] = value + i;
    value += FIRST_ITEMS;
    for (int line = 0; line < NODE_LINES - 2; line++) {
        for (int i = 0; i < LINE_ITEMS; i++)
            node->rest[line].items[i] = value + i;
        value += LINE_ITEMS;
    }
    for (int i = 0; i < ITEMS - FIRST_ITEMS - LINE_ITEMS * (NODE_LINES - 2); i++)
        node->rest[NODE_LINES - 2].items[i] = value + i;
}

void build(void)
{
    pool_fill();
    for (word i = 0; i < QUEUES; i++) {
        lock_init(&locks[i]);
        for (word k = 0; k < NODES / 2; k++) {
            struct node *node = node_take();
            fill(node, (uint32_t)k);
            *(k == 0 ? &queues[i].head : &queues[i].tail->next) = node;
            queues[i].tail = node;
            queues[i].count++;
        }
    }
}

static void push(struct queue *queue, lock_t *lock)
{
    struct node *node = node_take();
    if (!node)
        return;
    uint32_t value = (uint32_t)random_word();
    lock_take(lock);
    struct node *tail = queue->tail;
    region_begin();
    region_log_lines(node, NODE_LINES);
    region_log(queue, 24);
    if (tail)
        region_log(&tail->next, 8);
    region_order(LAST);
    fill(node, value);
    if (tail)
        tail->next = node;
    else
        queue->head = node;
    queue->tail = node;
    queue->count++;
    region_finish(LAST);
    lock_leave(lock);
}

static void pop(struct queue *queue, lock_t *lock)
{
    lock_take(lock);
    struct node *node = queue->head;
    if (!node) {
        lock_leave(lock);
        return;
    }
    struct node *next = node->next;
    region_begin();
    region_log_lines(node, NODE_LINES);
    region_log(queue, 24);
    region_order(LAST);
    node->next = NULL;
    queue->head = next;
    if (!next)
        queue->tail = NULL;
    queue->count--;
    region_finish(LAST);
    lock_leave(lock);
    node_give(node);
}

void operation(void)
{
    word i = random_below(QUEUES);
    if (random_below(2) == 0)
        push(&queues[i], &locks[i]);
    else
        pop(&queues[i], &locks[i]);
}

/* Each queue ends at its tail and has as many nodes as it counts. */
int check(void)
{
    for (word i = 0; i < QUEUES; i++) {
        struct node *last = NULL;
        word count = 0;
        for (struct node *node = queues[i].head; node; last = node, node = node->next, count++)
            if (node->rest[0].items[1] != node->first[0] + FIRST_ITEMS + 1)
                return 0;
        if (last != queues[i].tail || count != queues[i].count)
            return 0;
    }
    return 1;
}

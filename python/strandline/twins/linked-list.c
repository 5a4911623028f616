/* linked-list: Speculative Persistence (ISCA 2017), Table 1 "Linked-List". Searches a random key in a sorted list, and
 * deletes its node, or inserts one if there are fewer than 1,024 ("Max:1024"). */

#ifndef KEYS
#define KEYS 2048
#endif
#ifndef NODES
#define NODES 1024
#endif
#ifndef INIT_OPS
#define INIT_OPS 4000
#endif

#define POOL NODES
#include "chain.h"

static struct node head;

void build(void)
{
    pool_fill();
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

void operation(void)
{
    toggle(&head, random_below(KEYS));
}

int check(void)
{
    return is_sorted(&head);
}

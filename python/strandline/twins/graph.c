/* graph: Speculative Persistence (ISCA 2017), Table 1 "Graph". Draws a vertex and one that it can lead to; deletes that
 * edge, or inserts it. A vertex has a list of edges, sorted by destination. */

#ifndef VERTICES
#define VERTICES 1000
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 16
#endif
#ifndef INIT_OPS
#define INIT_OPS 20000
#endif

#define POOL (VERTICES * NEIGHBOURS)
#include "chain.h"

static struct node vertices[VERTICES];

void build(void)
{
    pool_fill();
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

void operation(void)
{
    word from = random_below(VERTICES);
    word to = (from + random_below(NEIGHBOURS) + 1) % VERTICES;
    toggle(&vertices[from], to);
}

int check(void)
{
    for (word i = 0; i < VERTICES; i++)
        if (!is_sorted(&vertices[i]))
            return 0;
    return 1;
}

/* sps, array-swap: COSPlay (MICRO 2021), Table 3 "SPS"; DPO (MICRO 2016), Table III "Array Swaps".
 * Locks two random elements in index order and swaps them. */
#include "undo.h"

#ifndef ROWS
#define ROWS 5000
#endif

struct element {
    word value;
    word unused[6];
    word trailer;
} ALIGNED;

/* Each element and each mutex is an allocation of its own where the program's are. */
#ifdef GLIBC
static struct element *elements[ROWS];
#define ELEMENT(i) (elements[i])
#else
static struct element elements[ROWS];
#define ELEMENT(i) (&elements[i])
#endif
static lock_t locks[ROWS];

void build(void)
{
    for (word i = 0; i < ROWS; i++) {
#ifdef GLIBC
        elements[i] = lines(sizeof *elements[i]);
#endif
        ELEMENT(i)->value = i;
        lock_init(&locks[i]);
    }
}

static void swap(struct element *a, struct element *b)
{
    region_begin();
    region_log(&a->value, 8);
    region_log(&b->value, 8);
    region_order(LAST);
    word old = a->value;
    a->value = b->value;
    b->value = old;
    region_finish(LAST);
}

void operation(void)
{
    word i = random_below(ROWS), j = random_below(ROWS);
    if (i == j && ++j == ROWS)
        j = 0;
    word low = i < j ? i : j, high = i < j ? j : i;
    lock_take(&locks[low]);
    lock_take(&locks[high]);
    swap(ELEMENT(low), ELEMENT(high));
    lock_leave(&locks[high]);
    lock_leave(&locks[low]);
}

/* The array is a permutation. */
int check(void)
{
    static char seen[ROWS];
    for (word i = 0; i < ROWS; i++)
        if (ELEMENT(i)->value >= ROWS || seen[ELEMENT(i)->value]++)
            return 0;
    return 1;
}

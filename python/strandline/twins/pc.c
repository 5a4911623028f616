/* pc, the persistent cache: COSPlay (MICRO 2021), Table 3 "PC". Locks the row of a random key and writes both of its
 * values. */
#include "undo.h"

#ifndef ROWS
#define ROWS 5000
#endif

#define TIE 0x9e3779b1

struct row {
    uint32_t first, second;
    word unused[6];
    word trailer;
} ALIGNED;

static struct row rows[ROWS];
static lock_t locks[ROWS];

void build(void)
{
    for (word i = 0; i < ROWS; i++) {
        rows[i].second = (uint32_t)(i * TIE);
        lock_init(&locks[i]);
    }
}

void operation(void)
{
    word key = random_word(), first = random_word();
    word index = key % ROWS, second = (first ^ index) * TIE;
    lock_take(&locks[index]);
    struct row *row = &rows[index];
    region_begin();
    region_log(row, 8);
    region_order(LAST);
    row->first = (uint32_t)first;
    row->second = (uint32_t)second;
    region_finish(LAST);
    lock_leave(&locks[index]);
}

/* The second value of each row matches the first. */
int check(void)
{
    for (word i = 0; i < ROWS; i++)
        if (rows[i].second != (uint32_t)((rows[i].first ^ i) * TIE))
            return 0;
    return 1;
}

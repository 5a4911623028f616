/* tatp: COSPlay (MICRO 2021), Table 3 "TATP"; DPO (MICRO 2016), Table III. Update location of a random subscriber, who
 * is drawn as TATP draws: the bitwise or of two numbers. */
#include "undo.h"

#ifndef ROWS
#define ROWS 5000
#endif

#define SPREAD 65536

struct subscriber {
    word id;
    char number[16];
    char bits[10], hexadecimals[10], bytes[20];
    word trailer_of_first;
    word more[4];
    uint32_t centre, visitor;
    word unused[2];
    word trailer;
} ALIGNED;

static struct subscriber subscribers[ROWS];
static lock_t locks[ROWS];

void build(void)
{
    for (word i = 0; i < ROWS; i++) {
        subscribers[i].id = i;
        subscribers[i].visitor = 1;
        lock_init(&locks[i]);
    }
}

void operation(void)
{
    word index = (random_below(SPREAD) | random_below(ROWS)) % ROWS;
    word location = random_below(UINT32_MAX) + 1;
    lock_take(&locks[index]);
    struct subscriber *row = &subscribers[index];
    region_begin();
    region_log(&row->centre, 8);
    region_order(LAST);
    row->visitor = (uint32_t)location;
    region_finish(LAST);
    lock_leave(&locks[index]);
}

/* Every subscriber has a location. */
int check(void)
{
    for (word i = 0; i < ROWS; i++)
        if (subscribers[i].id != i || subscribers[i].visitor == 0)
            return 0;
    return 1;
}

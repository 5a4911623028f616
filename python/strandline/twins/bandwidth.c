/* bandwidth: ASAP (HPCA 2022), section VI-C: writes of 256 bytes that alternate over the memory controllers, each
 * ordered before the next. Every word of a write holds its number. */
#include "twin.h"

#ifndef BYTES
#define BYTES 256
#endif
#ifndef STRIDE
#define STRIDE 4096
#endif
#ifndef BLOCKS
#define BLOCKS 16
#endif
#ifndef WRITES
#define WRITES 64
#endif

#define WRITE_WORDS (BYTES / 8)
#define BLOCK_WRITES (STRIDE / BYTES)

static word area[BLOCKS][BLOCK_WRITES][WRITE_WORDS] ALIGNED;
static word made;

void build(void)
{
}

void operation(void)
{
    for (int i = 0; i < WRITES; i++) {
        word *at = area[made % BLOCKS][made / BLOCKS % BLOCK_WRITES];
        made++;
        for (int k = 0; k < WRITE_WORDS; k++)
            at[k] = made;
#ifdef LOGGED
        for (int k = 0; k < WRITE_WORDS; k += LINE / 8)
            flush(&at[k]);
        fence();
#endif
    }
}

int check(void)
{
    word *at = made == 0 ? NULL : area[(made - 1) % BLOCKS][(made - 1) / BLOCKS % BLOCK_WRITES];
    return !at || (at[0] == made && at[WRITE_WORDS - 1] == made);
}

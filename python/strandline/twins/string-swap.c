/* string-swap: Speculative Persistence (ISCA 2017), Table 1 "String Swap", and 3.2. Swaps two random strings of 256
 * bytes by three calls that copy words. */
#include "wal.h"

#ifndef STRINGS
#define STRINGS 1000
#endif

#define BYTES 256

static char strings[STRINGS][BYTES] ALIGNED;

void build(void)
{
    for (word i = 0; i < STRINGS; i++)
        for (word k = 0; k < BYTES / 8; k++)
            ((word *)strings[i])[k] = i << 8 | k;
}

void operation(void)
{
    char old[BYTES] ALIGNED;
    word i = random_below(STRINGS), j = random_below(STRINGS);
    for (word at = 0; at < BYTES; at += LINE)
        region_log(&strings[i][at], LINE);
    for (word at = 0; at < BYTES; at += LINE)
        region_log(&strings[j][at], LINE);
    region_order();
    copy_words(old, strings[i], BYTES);
    copy_words(strings[i], strings[j], BYTES);
    copy_words(strings[j], old, BYTES);
    region_finish();
}

/* Each string is whole, and there once. */
int check(void)
{
    static char seen[STRINGS];
    for (word i = 0; i < STRINGS; i++) {
        word *words = (word *)strings[i], string = words[0] >> 8;
        if (string >= STRINGS || seen[string]++)
            return 0;
        for (word k = 0; k < BYTES / 8; k++)
            if (words[k] != (string << 8 | k))
                return 0;
    }
    return 1;
}

/* What programs of libpmemobj share: a pool that is prepared by one run, and worked on by the next.
 *
 * PROGRAM POOL prepare; PROGRAM POOL; PROGRAM POOL check */
#pragma once
#include "pool.h"

#include <libpmemobj.h>

struct root;

#undef PROGRAM
#define PROGRAM                                                                               \
    int main(int count, char **words) {                                                       \
        const char *what = count > 2 ? words[2] : "run";                                      \
        PMEMobjpool *pool = strcmp(what, "prepare") ? pmemobj_open(words[1], "verdicts")      \
                                                    : pmemobj_create(words[1], "verdicts", PMEMOBJ_MIN_POOL, 0644); \
        if (!pool) {                                                                          \
            fprintf(stderr, "%s\n", pmemobj_errormsg());                                      \
            return 9;                                                                         \
        }                                                                                     \
        struct root *root = pmemobj_direct(pmemobj_root(pool, sizeof *root));                 \
        STRANDLINE_REGION_BEGIN(); /* opening and closing a pool is a million instructions */         \
        (strcmp(what, "prepare") ? strcmp(what, "check") ? run : check : prepare)(pool, root); \
        STRANDLINE_REGION_END();                                                              \
        if (strcmp(what, "check")) pmemobj_close(pool);                                       \
        return 0;                                                                             \
    }

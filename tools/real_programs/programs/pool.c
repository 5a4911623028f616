/*
 * Makes and checks pools of libpmemobj, as small as the library allows, where pmempool may not be installed.
 *
 * Usage: pool new LAYOUT FILE     the smallest pool of this layout
 *        pool check LAYOUT FILE   exit status 0 if the library finds it consistent, 1 if not
 */
#include <stdio.h>
#include <string.h>

#include <libpmemobj.h>

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "new") == 0) {
        PMEMobjpool *pool = pmemobj_create(argv[3], argv[2], PMEMOBJ_MIN_POOL, 0600);
        if (pool != NULL) {
            pmemobj_close(pool);
            return 0;
        }
    } else if (argc == 4 && strcmp(argv[1], "check") == 0) {
        int found = pmemobj_check(argv[3], argv[2]);
        if (found == 1)
            return 0;
        if (found == 0) {
            fprintf(stderr, "pool: %s: not consistent\n", argv[3]);
            return 1;
        }
    } else {
        fprintf(stderr, "usage: pool new|check LAYOUT FILE\n");
        return 2;
    }
    fprintf(stderr, "pool: %s: %s\n", argv[3], pmemobj_errormsg());
    return 1;
}

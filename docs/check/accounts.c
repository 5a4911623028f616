/* Accounts in a pool of libpmemobj.
 *
 * accounts FILE create    makes the pool; the first account gets 100
 * accounts FILE           moves 10 from the first account to the second
 * accounts FILE check     recovers; exits with 1 if the sum is no longer 100 */
#include <libpmemobj.h>
#include <stdio.h>
#include <string.h>

struct account {
    char owner[120];
    long balance;
};

struct accounts {
    struct account first, second;
};

static void move(PMEMobjpool *pool, struct accounts *all, long amount) {
    TX_BEGIN(pool) {
        pmemobj_tx_add_range_direct(&all->first, sizeof all->first);
        all->first.balance -= amount;
        all->second.balance += amount;
    } TX_END
}

int main(int count, char **words) {
    const char *what = count < 2 ? "" : count < 3 ? "move" : words[2];
    PMEMobjpool *pool = NULL;
    if (strcmp(what, "create") == 0) {
        pool = pmemobj_create(words[1], "accounts", PMEMOBJ_MIN_POOL, 0644);
    } else if (count > 1) {
        pool = pmemobj_open(words[1], "accounts"); /* recovers */
    }
    if (pool == NULL) {
        fprintf(stderr, "%s\n", count < 2 ? "usage: accounts FILE [create|check]" : pmemobj_errormsg());
        return 2;
    }
    struct accounts *all = pmemobj_direct(pmemobj_root(pool, sizeof *all));
    if (strcmp(what, "create") == 0) {
        all->first.balance = 100;
        pmemobj_persist(pool, &all->first, sizeof all->first);
    } else if (strcmp(what, "move") == 0) {
        move(pool, all, 10);
    }
    long sum = all->first.balance + all->second.balance;
    if (sum != 100) {
        fprintf(stderr, "the accounts hold %ld, not 100\n", sum);
    }
    pmemobj_close(pool);
    return sum != 100;
}

/* A flag vouches for a value in another line. Px86 orders the two only by a flush of the value and a fence or a locked
 * instruction behind it; a clflush needs neither; an lfence orders no flush. */
#include "pool.h"
enum { RIGHT, CLFLUSH, CLFLUSHOPT, MFENCE, LOCKED, FAILING_CAS, XCHG_FLAG, NT_VALUE, NT_FLAG, NO_FLUSH, NO_FENCE, LFENCE, CLFLUSHOPT_ALONE, ONE_FENCE, FLAG_FIRST };

struct pool {
    LINE word value;
    LINE word flag;
};

static void vouch(struct pool *p) {
    if (HOW == XCHG_FLAG) __atomic_exchange_n(&p->flag, 1, __ATOMIC_ACQ_REL);
    else if (HOW == NT_FLAG) store_nt(&p->flag, 1);
    else p->flag = 1; /* BUG: FLAG_FIRST */
    if (HOW != NT_FLAG) flush(&p->flag);
    if (HOW != ONE_FENCE) fence();
}

static void run(struct pool *p) {
    uint64_t here = 0;
    if (HOW == FLAG_FIRST) vouch(p);
    if (HOW == NT_VALUE) store_nt(&p->value, 7);
    else p->value = 7; /* BUG: NO_FLUSH NO_FENCE LFENCE CLFLUSHOPT_ALONE ONE_FENCE FLAG_FIRST */
    if (HOW == CLFLUSH) __asm__ volatile("clflush %0" ::"m"(p->value) : "memory");
    else if (HOW == CLFLUSHOPT || HOW == CLFLUSHOPT_ALONE) __asm__ volatile("clflushopt %0" ::"m"(p->value) : "memory");
    else if (HOW != NO_FLUSH && HOW != NT_VALUE) flush(&p->value);
    if (HOW == MFENCE) __asm__ volatile("mfence" ::: "memory");
    if (HOW == LFENCE) __asm__ volatile("lfence" ::: "memory");
    if (HOW == LOCKED) __atomic_fetch_add(&here, 1, __ATOMIC_SEQ_CST);
    if (HOW == FAILING_CAS) __sync_bool_compare_and_swap(&here, 1, 2);
    if (HOW == RIGHT || HOW == CLFLUSHOPT || HOW == FLAG_FIRST || HOW == NT_VALUE || HOW == NT_FLAG) fence();
    if (HOW != FLAG_FIRST) vouch(p);
    if (HOW == ONE_FENCE) fence();
}

static void check(struct pool *p) {
    REQUIRE(!p->flag || p->value == 7);
}

PROGRAM

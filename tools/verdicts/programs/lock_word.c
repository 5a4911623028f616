/* A lock in a node's header, in a line with flushed data. It need not be durable if recovery opens it. */
#include "pool.h"
enum { RIGHT, MUTEX, TICKET, READERS, APART_FROM_DATA, NOT_OPENED, NOT_LEFT };

struct pool {
    LINE volatile uint32_t lock; /* TICKET: next */
    volatile uint32_t served;
    word count;
    word values[4];
    LINE pthread_mutex_t mutex;
    LINE volatile uint32_t far_lock;
};

static volatile uint32_t *lock_of(struct pool *p) {
    return HOW == APART_FROM_DATA ? &p->far_lock : &p->lock;
}

static void take(struct pool *p) {
    if (HOW == MUTEX) {
        pthread_mutex_lock(&p->mutex); /* NOT */
    } else if (HOW == TICKET) {
        uint32_t mine = __atomic_fetch_add(&p->lock, 1, __ATOMIC_ACQ_REL); /* NOT */
        while (p->served != mine) {}
    } else if (HOW == READERS) {
        __atomic_fetch_add(&p->lock, 1, __ATOMIC_ACQ_REL); /* NOT */
    } else {
        while (__atomic_exchange_n(lock_of(p), 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause(); /* BUG: NOT_OPENED NOT_LEFT */
    }
}

static void leave(struct pool *p) {
    if (HOW == MUTEX) pthread_mutex_unlock(&p->mutex); /* NOT */
    else if (HOW == TICKET) p->served += 1;            /* NOT */
    else if (HOW == READERS) __atomic_fetch_sub(&p->lock, 1, __ATOMIC_ACQ_REL); /* NOT */
    else __atomic_store_n(lock_of(p), 0, __ATOMIC_RELEASE); /* NOT */
}

static void run(struct pool *p) {
    for (int i = 0; i < 4; i++) {
        take(p);
        p->values[p->count] = i + 1;
        persist(&p->values[p->count], 8);
        p->count += 1;
        persist(&p->count, 8);
        if (HOW == NOT_LEFT && i == 3) return; /* an early return */
        leave(p);
    }
}

static void check(struct pool *p) {
    if (HOW != NOT_OPENED && HOW != NOT_LEFT) p->lock = p->far_lock = p->served = 0;
    REQUIRE(*lock_of(p) == 0 || HOW == MUTEX);
    for (uint64_t i = 0; i < p->count; i++) REQUIRE(p->values[i] == i + 1);
}

PROGRAM

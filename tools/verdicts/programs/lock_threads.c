/* Two threads count under a lock in the pool. Its words need not be durable, and no reader takes them for data. */
#include "pool.h"
enum { RIGHT, MUTEX, RWLOCK, TICKET, UNLOCKED_EARLY };

struct pool {
    LINE word count;
    LINE word copy;
    LINE volatile uint32_t lock, served;
    LINE pthread_mutex_t mutex;
    LINE pthread_rwlock_t rwlock;
};

static void take(struct pool *p) {
    if (HOW == MUTEX) pthread_mutex_lock(&p->mutex);
    else if (HOW == RWLOCK) pthread_rwlock_wrlock(&p->rwlock);
    else if (HOW == TICKET) for (uint32_t mine = __atomic_fetch_add(&p->lock, 1, __ATOMIC_ACQ_REL); p->served != mine;) __builtin_ia32_pause();
    else while (__atomic_exchange_n(&p->lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

static void leave(struct pool *p) {
    if (HOW == MUTEX) pthread_mutex_unlock(&p->mutex);
    else if (HOW == RWLOCK) pthread_rwlock_unlock(&p->rwlock);
    else if (HOW == TICKET) p->served += 1;
    else __atomic_store_n(&p->lock, 0, __ATOMIC_RELEASE);
}

static void *work(void *at) {
    struct pool *p = at;
    for (int i = 0; i < 3; i++) {
        take(p);
        p->count += 1; /* BUG */
        if (HOW != UNLOCKED_EARLY) persist(&p->count, 8);
        uint64_t count = p->count;
        if (HOW != UNLOCKED_EARLY) p->copy = count;
        if (HOW != UNLOCKED_EARLY) persist(&p->copy, 8);
        leave(p);
        if (HOW == UNLOCKED_EARLY) persist(&p->count, 8);
    }
    return NULL;
}

static void *copies(void *at) {
    struct pool *p = at;
    if (HOW != UNLOCKED_EARLY) return work(at);
    for (uint64_t count = 0; count == 0;) {
        take(p);
        count = p->count; /* AUDIT: UNLOCKED_EARLY */
        leave(p);
        p->copy = count; /* MAY */
        persist(&p->copy, 8);
    }
    return NULL;
}

static void run(struct pool *p) {
    both(work, copies, p);
}

static void check(struct pool *p) {
    REQUIRE(p->copy <= p->count);
}

PROGRAM

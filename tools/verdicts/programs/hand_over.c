/* A value is handed over under a lock in ordinary memory; the one who takes it makes a copy durable. It must be durable when
 * the lock is left. */
#include "pool.h"
enum { RIGHT, LOCKED_UNLOCK, MUTEX, UNFENCED, UNFLUSHED, FLUSHED_OUTSIDE };

struct pool {
    LINE word size;
    LINE word copied;
};

static LINE volatile int lock;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take(void) {
    if (HOW == MUTEX) pthread_mutex_lock(&mutex);
    else while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause();
}

static void leave(void) {
    if (HOW == MUTEX) pthread_mutex_unlock(&mutex);
    else if (HOW == LOCKED_UNLOCK) __atomic_fetch_and(&lock, 0, __ATOMIC_RELEASE);
    else __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static void *writer(void *at) {
    struct pool *p = at;
    take();
    p->size = 7; /* BUG */ /* AUDIT: UNFLUSHED */
    if (HOW != UNFLUSHED && HOW != FLUSHED_OUTSIDE) flush(&p->size); /* AUDIT: UNFENCED */
    if (HOW == RIGHT) fence();
    leave();
    if (HOW == FLUSHED_OUTSIDE) persist(&p->size, 8);
    return NULL;
}

static void *reader(void *at) {
    struct pool *p = at;
    for (uint64_t size = 0; size == 0;) {
        take();
        size = p->size; /* AUDIT: UNFENCED FLUSHED_OUTSIDE */
        leave();
        if (size) p->copied = size; /* MAY */
        if (size) persist(&p->copied, 8);
        else usleep(100);
    }
    return NULL;
}

static void run(struct pool *p) {
    both(reader, writer, p);
}

static void check(struct pool *p) {
    REQUIRE(!p->copied || p->copied == p->size);
}

PROGRAM

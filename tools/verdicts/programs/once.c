/* Two threads initialise once, by a checked word. The one who finds it done makes something durable that depends on it. */
#include "pool.h"
enum { RIGHT, BY_CAS, CHECKED_TWICE, FLUSHED_LATE };

struct pool {
    LINE word ready;
    LINE word table[8];
    LINE word used[2];
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void initialise(struct pool *p) {
    for (int i = 0; i < 8; i++) p->table[i] = 1; /* BUG */
    if (HOW != FLUSHED_LATE) persist(p->table, 64);
    p->ready = 1;
    persist(&p->ready, 8);
    if (HOW == FLUSHED_LATE) persist(p->table, 64);
}

static void *use(void *at, int number) {
    static volatile uint64_t claimed;
    struct pool *p = at;
    if (HOW == BY_CAS) {
        uint64_t nobody = 0;
        if (__atomic_compare_exchange_n(&claimed, &nobody, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) initialise(p);
        while (!p->ready) {}
    } else if (HOW != CHECKED_TWICE || !p->ready) {
        pthread_mutex_lock(&mutex);
        if (!p->ready) initialise(p);
        pthread_mutex_unlock(&mutex);
    }
    if (HOW == BY_CAS || HOW == CHECKED_TWICE) persist(&p->ready, 8);
    p->used[number] = 1;
    persist(&p->used[number], 8);
    return NULL;
}

static void *first(void *at) {
    return use(at, 0);
}

static void *second(void *at) {
    return use(at, 1);
}

static void run(struct pool *p) {
    both(first, second, p);
}

static void check(struct pool *p) {
    for (int i = 0; p->ready && i < 8; i++) REQUIRE(p->table[i] == 1);
    REQUIRE(p->ready || (!p->used[0] && !p->used[1]));
}

PROGRAM

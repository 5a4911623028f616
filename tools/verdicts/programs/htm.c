/* A hardware transaction takes a lock in the pool. It retries, gives up, or falls back, which all are legitimate. */
#include "pool.h"
#include <immintrin.h>
enum { RIGHT, RETRIES, ABORTS, TESTS, UNFENCED };

struct pool {
    LINE word value;
    LINE word flag;
};

static word lock;

__attribute__((target("rtm"))) static void run(struct pool *p) {
    int tries = HOW == RETRIES ? 1000 : 3, taken = 0;
    for (int i = 0; i < tries && !taken && HOW != TESTS; i++) {
        if (_xbegin() != _XBEGIN_STARTED) continue;
        if (lock || HOW == ABORTS) _xabort(1);
        lock = 1;
        _xend();
        taken = 1;
    }
    if (!taken) while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {}
    if (HOW == TESTS && _xtest()) exit(3);
    p->value = 7; /* BUG */
    flush(&p->value);
    if (HOW != UNFENCED) fence();
    p->flag = 1;
    persist(&p->flag, 8);
    lock = 0;
}

static void check(struct pool *p) {
    REQUIRE(!p->flag || p->value == 7);
}

PROGRAM

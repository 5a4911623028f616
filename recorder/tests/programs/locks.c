/* Two threads that take locks: by xchg, by cmpxchg, and by tickets. Plain stores release them. Says where they are. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define TIMES 100

static int swapped;
static uint64_t compared;
static uint64_t next;
static volatile uint64_t serving, counter;

static void *take(void *nothing) {
    for (int i = 0; i < TIMES; i++) {
        while (__atomic_exchange_n(&swapped, 1, __ATOMIC_ACQUIRE)) {}
        __atomic_store_n(&swapped, 0, __ATOMIC_RELEASE);
        uint64_t old;
        do {
            old = 0;
        } while (!__atomic_compare_exchange_n(&compared, &old, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
        __atomic_store_n(&compared, 0, __ATOMIC_RELEASE);
        uint64_t mine = __atomic_fetch_add(&next, 1, __ATOMIC_ACQ_REL);
        while (serving != mine) {}
        for (int work = 0; work < 300; work++) counter++;
        serving = mine + 1;
    }
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(threads + i, 0, take, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%p %p %p\n", (void *)&swapped, (void *)&compared, (void *)&serving);
    return 0;
}

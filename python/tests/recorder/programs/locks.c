/* Words of locks and of data, each in a function whose name says what the audit has to find there. */
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define LINE _Alignas(64)
#define ALWAYS static inline __attribute__((always_inline))

struct waiter { LINE struct waiter *volatile next; volatile uint64_t waits; };
struct __attribute__((packed)) record { uint32_t tag; uint64_t length; };

static struct pool {
    LINE struct { volatile uint32_t lock, count; } node;
    LINE struct { volatile uint64_t next, now, value; } ticket;
    LINE struct waiter *volatile tail;
    struct waiter waiter;
    LINE struct { pthread_rwlock_t lock; volatile uint64_t value; } shared;
    LINE volatile uint64_t readers, references, top, free, flags, own, zero;
    LINE struct waiter *volatile head;
    LINE uint64_t *volatile pointer;
    LINE uint64_t *volatile running;
    LINE struct record record;
    LINE volatile uint64_t counters[8];
    LINE volatile uint64_t read, seen;
} *pool;

ALWAYS void persist(const volatile void *at) {
    _mm_clwb((void *)at);
    _mm_sfence();
}

APART static void lock_beside_data(void) {
    for (int i = 0; i < 2; i++) {
        while (__atomic_exchange_n(&pool->node.lock, 1, __ATOMIC_ACQUIRE)) {}
        pool->node.count++;
        persist(&pool->node);
        __atomic_store_n(&pool->node.lock, 0, __ATOMIC_RELEASE);
    }
}

APART static void open_tickets(void) {
    for (int i = 0; i < 2; i++) {
        uint64_t ticket = __atomic_fetch_add(&pool->ticket.next, 1, __ATOMIC_ACQUIRE);
        while (pool->ticket.now != ticket) {}
        pool->ticket.value++;
        persist(&pool->ticket);
        __atomic_store_n(&pool->ticket.now, ticket + 1, __ATOMIC_RELEASE);
    }
}

APART static void open_waiters(void) {
    struct waiter *own = &pool->waiter, *expected = own;
    own->waits = 1;
    if (__atomic_exchange_n(&pool->tail, own, __ATOMIC_ACQUIRE)) return;
    __atomic_compare_exchange_n(&pool->tail, &expected, 0, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

APART static void lock_of_readers(void) {
    __atomic_fetch_add(&pool->readers, 1, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(&pool->readers, 1, __ATOMIC_ACQUIRE);
    __atomic_fetch_sub(&pool->readers, 2, __ATOMIC_RELEASE);
}

APART static void open_references(void) {
    __atomic_fetch_add(&pool->references, 1, __ATOMIC_ACQUIRE);
    __atomic_fetch_sub(&pool->references, 1, __ATOMIC_RELEASE);
}

APART static int lock_of_the_library(void) {
    pthread_rwlock_wrlock(&pool->shared.lock);
    pool->shared.value++;
    persist(&pool->shared.value);
    return pthread_rwlock_unlock(&pool->shared.lock) ? 1 : 0;
}

APART static void data_top(void) {
    for (uint64_t i = 0; i < 3; i++) {
        __atomic_compare_exchange_n(&pool->top, &i, i + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

APART static void data_free(void) { __atomic_fetch_add(&pool->free, 64, __ATOMIC_ACQ_REL); }

APART static void data_head(void) {
    struct waiter *before = 0;
    __atomic_compare_exchange_n(&pool->head, &before, &pool->waiter, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

APART static void data_flags(void) { __atomic_fetch_or(&pool->flags, 6, __ATOMIC_ACQ_REL); }

APART static void data_counter(void) {
    pool->own++;
    pool->own++;
}

APART static void same(void) { pool->zero = 0; }

APART static void address(uint64_t *of) {
    pool->pointer = of;
    persist(&pool->pointer);
}

APART static void running(uint64_t *of) {
    pool->running = of;
    pool->running = 0;
}

APART static void torn(void) {
    pool->record.length = 0x1122334455667788;
    persist(&pool->record.length);
}

APART static void astray(void) {
    uint64_t *volatile counters = (uint64_t *)pool->counters;
    counters[1] = 1;
    persist(&counters);
}

APART static void *reader(void *unused) {
    pthread_rwlock_rdlock(&pool->shared.lock);
    pool->read = pool->shared.value;
    _mm_stream_si64((long long *)&pool->seen, 1);
    _mm_sfence();
    pthread_rwlock_unlock(&pool->shared.lock);
    return unused;
}

int main(int count, char **words) {
    int file = open(words[count - 1], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096)) return 1;
    pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pool->references = 1;
    persist(&pool->references);
    uint64_t *heap = malloc(sizeof *heap);
    *heap = 1;
    lock_beside_data();
    open_tickets();
    open_waiters();
    lock_of_readers();
    open_references();
    data_top();
    data_free();
    data_head();
    data_flags();
    data_counter();
    same();
    address(heap);
    torn();
    running(heap);
    astray();
    if (lock_of_the_library()) return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_join(thread, NULL);
    if (lock_of_the_library()) return 1;
    return 0;
}

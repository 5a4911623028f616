/* What every twin uses: random numbers, locks, memory, flushes, and the main program.
 *
 * A twin is the program of a built-in workload as textbook C, written from its paper. It defines `build`, which fills
 * the structure, `operation`, and `check`, which says whether the structure is whole. It is compiled with
 *
 *   -DGLIBC   rand() % n, pthread mutexes, and each element, node and mutex from malloc, as the papers' programs do;
 *             otherwise the lean library of the runtime: a generator of its own, test-and-set locks, arrays and a stack
 *             of free nodes
 *   -DLOGGED  the undo log of its runtime, flushes and fences; otherwise none of these
 *   -DCLWB    clwb; otherwise clflush, which is one instruction with one address as well: valgrind 3.19 knows no clwb
 */
#ifndef TWIN_H
#define TWIN_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t word;

#define LINE 64
#define ALIGNED __attribute__((aligned(LINE)))

void build(void);
void operation(void);
int check(void);

#ifdef CLWB
#define FLUSH "clwb"
#else
#define FLUSH "clflush"
#endif

static inline void flush(void *at)
{
    __asm__ volatile(FLUSH " (%0)" : : "r"(at) : "memory");
}

static inline void fence(void)
{
    __asm__ volatile("sfence" : : : "memory");
}

/* The upper half of a product: one instruction, for which C has no operator. */
static inline word scaled_below(word from, word n)
{
    word high;
    __asm__("mulq %2" : "+a"(from), "=d"(high) : "r"(n) : "cc");
    return high;
}

/* Memory that is never freed: tables, and what `build` makes. */
static inline void *lines(word bytes)
{
    void *at = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    return at ? at : (exit(1), at);
}

#ifdef GLIBC

static inline word random_word(void)
{
    return (word)rand();
}

static inline word random_half(void)
{
    return (word)rand();
}

static inline word random_below(word n)
{
    return (word)rand() % n;
}

typedef pthread_mutex_t *lock_t;

static inline void lock_init(lock_t *lock)
{
    *lock = malloc(sizeof **lock);
    pthread_mutex_init(*lock, NULL);
}

static inline void lock_take(lock_t *lock)
{
    pthread_mutex_lock(*lock);
}

static inline void lock_leave(lock_t *lock)
{
    pthread_mutex_unlock(*lock);
}

#else

extern word random_state;

/* xorshift64* (Marsaglia; Vigna). */
static inline word random_word(void)
{
    word x = random_state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    random_state = x;
    return x * 0x2545f4914f6cdd1d;
}

/* 32 random bits, or the 31 of rand. */
static inline word random_half(void)
{
    return random_word() >> 32;
}

static inline word random_below(word n)
{
    return scaled_below(random_word(), n);
}

typedef word lock_t;

static inline void lock_init(lock_t *lock)
{
    *lock = 0;
}

static inline void lock_take(lock_t *lock)
{
    while (__atomic_load_n(lock, __ATOMIC_RELAXED) || __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        ;
}

static inline void lock_leave(lock_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif

#endif

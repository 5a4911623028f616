/* Maps without a log, which order their own stores: keys, values, hashes, and flushes with LOGGED only. */
#ifndef MAP_H
#define MAP_H

#include "twin.h"

#ifndef KEYS
#define KEYS ((word)1 << 32)
#endif

#define SPREAD 0x9e3779b97f4a7c15
#define MIX 0xff51afd7ed558ccd

#ifdef LOGGED
#define map_flush(at) flush(at)
#define map_fence() fence()
#else
#define map_flush(at) ((void)(at))
#define map_fence() ((void)0)
#endif

/* No store passes it; x86 needs no instruction for that. */
#define store_barrier() __asm__ volatile("" : : : "memory")

static inline word draw_key(void)
{
    return (random_below(KEYS) + 1) * SPREAD;
}

/* A random half, and that mixed with the key. */
static inline word draw_value(word key)
{
    word half = random_half();
    return half << 32 | ((key ^ half) & 0xffffffff);
}

static inline int is_value_of(word key, word value)
{
    return (uint32_t)value == (uint32_t)(key ^ value >> 32);
}

static inline word hash_of(word key)
{
    word mixed = (key ^ key >> 33) * MIX;
    return mixed ^ mixed >> 29;
}

/* A word in an object that one thread holds alone. */
static inline void word_lock(word *lock, word held)
{
    for (;;) {
        word free = 0;
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(lock, &free, held, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
    }
}

static inline void word_unlock(word *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif

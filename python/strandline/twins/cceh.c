/* cceh: ASAP (HPCA 2022), Table III, after CCEH (FAST 2019). The leading bits of a hash choose a segment, the trailing
 * ones a line of four pairs; eight lines are probed. A slot is claimed by a compare-and-swap; value, then key. The
 * directory is deep enough, as ASAP's program has it: no segment is split. */
#include "map.h"

#ifndef DEPTH
#define DEPTH 4
#endif
#ifndef LINES
#define LINES 256
#endif

#define LINE_PAIRS 4
#define WINDOW (8 * LINE_PAIRS)
#define EMPTY 0
#define MARK UINT64_MAX
#define EXCLUSIVE UINT64_MAX

struct pair {
    word key, value;
};

struct segment {
    word prefix_shift, prefix, lock;
    struct pair pairs[LINES * LINE_PAIRS] ALIGNED;
};

static struct {
    word shift;
    struct segment **segments;
} directory;

static void share(word *lock)
{
    word holders;
    do
        holders = __atomic_load_n(lock, __ATOMIC_RELAXED);
    while (holders == EXCLUSIVE || !__atomic_compare_exchange_n(lock, &holders, holders + 1, 0, __ATOMIC_ACQUIRE,
                                                                __ATOMIC_RELAXED));
}

static int covers(const struct segment *segment, word hash)
{
    return hash >> segment->prefix_shift == segment->prefix;
}

/* The key's pair, or else the first that is free, if any is. */
static struct pair *probe(struct segment *segment, word key, word hash)
{
    struct pair *free_pair = NULL;
    word at = hash % LINES * LINE_PAIRS;
    for (int i = 0; i < WINDOW; i++) {
        struct pair *pair = &segment->pairs[at];
        word held;
        while ((held = __atomic_load_n(&pair->key, __ATOMIC_ACQUIRE)) == MARK)
            ;
        if (held == key)
            return pair;
        if (!free_pair && (held == EMPTY || !covers(segment, hash_of(held))))
            free_pair = pair;
        at = (at + 1) % (LINES * LINE_PAIRS);
    }
    return free_pair;
}

static void put(struct segment *segment, word key, word hash, word value)
{
    struct pair *pair = probe(segment, key, hash);
    if (!pair)
        exit(1);
    word held = pair->key;
    if (held != key && !__atomic_compare_exchange_n(&pair->key, &held, MARK, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        exit(1);
    pair->value = value;
    store_barrier();
    pair->key = key;
    map_flush(pair);
}

void operation(void)
{
    word key = draw_key(), value = draw_value(key), hash = hash_of(key);
    struct segment *segment = directory.segments[hash >> directory.shift];
    share(&segment->lock);
    if (!covers(segment, hash))
        exit(1);
    put(segment, key, hash, value);
    __atomic_fetch_sub(&segment->lock, 1, __ATOMIC_RELEASE);
    map_fence();
}

void build(void)
{
    directory.shift = 64 - DEPTH;
    directory.segments = lines(sizeof(struct segment *) << DEPTH);
    for (word i = 0; i < 1 << DEPTH; i++) {
        struct segment *segment = lines(sizeof *segment);
        *segment = (struct segment){.prefix_shift = 64 - DEPTH, .prefix = i};
        directory.segments[i] = segment;
    }
}

int check(void)
{
    for (word i = 0; i < 1 << DEPTH; i++)
        for (word k = 0; k < LINES * LINE_PAIRS; k++) {
            struct pair *pair = &directory.segments[i]->pairs[k];
            if (pair->key && (hash_of(pair->key) >> directory.shift != i || !is_value_of(pair->key, pair->value)))
                return 0;
        }
    return 1;
}

/*
 * Computes and touches memory, without a library: every processor and every tool executes the same instructions, so that a
 * count of them can be compared exactly. One thread, no input; the exit status is 0 if the sum came out as it must.
 */
#include <stdint.h>

enum { WORDS = 256, ROUNDS = 4, EXIT = 60 };

static uint64_t words[WORDS];

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Adds to random words and keeps their sum; its own second pass must come to the same. */
static int differ(void)
{
    uint64_t state = 88172645463325252;
    uint64_t expected = 0;
    for (int i = 0; i < ROUNDS * WORDS; i++) {
        uint64_t random = next(&state);
        words[random % WORDS] += random >> 32;
        expected += random >> 32;
    }
    uint64_t sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum += words[i];
    return sum != expected;
}

void _start(void)
{
    long status = differ();
    __asm__ volatile("syscall" : : "a"((long)EXIT), "D"(status) : "rcx", "r11", "memory");
    __builtin_unreachable();
}

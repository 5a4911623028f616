/* Locked instructions of each size and form, of words that are known before. Says where they are and what each reads and
 * writes. */
#include <stdint.h>
#include <stdio.h>

static volatile uint64_t words[64] __attribute__((aligned(64)));
static int count;
static uint64_t expected[64][2];

static volatile uint64_t *next(uint64_t old, uint64_t new) {
    expected[count][0] = old;
    expected[count][1] = new;
    words[count] = old;
    return &words[count++];
}

#define FORMS(type, suffix, constraint)                                                                              \
    do {                                                                                                             \
        type value = 7;                                                                                              \
        volatile uint64_t *word = next(5, 7);                                                                        \
        __asm__ volatile("xchg" suffix " %0, (%1)" : "+" constraint(value) : "r"(word) : "memory");                  \
        value = 3;                                                                                                   \
        word = next(6, 9);                                                                                           \
        __asm__ volatile("lock xadd" suffix " %0, (%1)" : "+" constraint(value) : "r"(word) : "memory", "cc");       \
        type is = 8;                                                                                                 \
        value = 4;                                                                                                   \
        word = next(8, 4);                                                                                           \
        __asm__ volatile("lock cmpxchg" suffix " %2, (%1)" : "+a"(is) : "r"(word), constraint(value) : "memory", "cc"); \
        is = 1;                                                                                                      \
        word = next(2, 2);                                                                                           \
        __asm__ volatile("lock cmpxchg" suffix " %2, (%1)" : "+a"(is) : "r"(word), constraint(value) : "memory", "cc"); \
    } while (0)

int main(void) {
    FORMS(uint8_t, "b", "q");
    FORMS(uint16_t, "w", "r");
    FORMS(uint32_t, "l", "r");
    FORMS(uint64_t, "q", "r");
    /* The high byte of a register; a register that is never read again; a block that begins and ends with the instruction;
     * what is compared is what is written. */
    volatile uint64_t *word = next(5, 9);
    __asm__ volatile("mov $9, %%ah; xchg %%ah, (%0); xor %%eax, %%eax" : : "r"(word) : "rax", "memory");
    word = next(5, 11);
    __asm__ volatile("mov $11, %%rax; jmp 1f; 1: xchg %%rax, (%0); jmp 2f; 2: xor %%eax, %%eax" : : "r"(word) : "rax", "memory");
    word = next(5, 18);
    __asm__ volatile("mov $13, %%rax; jmp 1f; 1: lock xadd %%rax, (%0); jmp 2f; 2: mov $0, %%rax" : : "r"(word) : "rax", "memory");
    word = next(5, 5);
    __asm__ volatile("mov $5, %%rax; lock cmpxchg %%rax, (%0); mov $0, %%rax" : : "r"(word) : "rax", "memory");
    word = next(5, 17);
    __asm__ volatile("mov $17, %%rcx; cmp $0, %%rcx; jmp 1f; 1: xchg %%rcx, (%0); je 2f; 2: nop" : : "r"(word) : "rcx", "memory", "cc");
    for (int i = 0; i < count; i++)
        printf("%p %lu %lu\n", (void *)&words[i], (unsigned long)expected[i][0], (unsigned long)expected[i][1]);
    return 0;
}

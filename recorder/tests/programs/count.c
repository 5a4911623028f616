/* Executes a number of instructions that is known: 2 to begin, 3 for each round, 1 to return. */
#include <stdio.h>

__attribute__((noinline)) void known(void);
__asm__("known: mov $1000, %ecx\n xor %eax, %eax\n"
        "1: add %rcx, %rax\n dec %ecx\n jnz 1b\n ret\n.globl known\n.type known, @function\n");

int main(void) {
    known();
    return 0;
}

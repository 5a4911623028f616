/*
 * Counts what a program executes by running it one instruction at a time on this very processor (ptrace): the slow second
 * opinion on a recording's totals, with the same choices of code by processor that the recorded run makes.
 *
 * Usage: step OUT FROM STEPS PROGRAM ARGUMENTS...   FROM: an address at whose first execution counting begins, 0: at once.
 * STEPS: end the program after so many instructions, 0: never. OUT gets one JSON object. Exit status: the program's.
 * Follows the first thread only. A string instruction with a rep prefix counts once for each iteration.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kinds.h"

enum { CACHE = 1 << 16, LONGEST = 15, BREAKPOINT = 0xcc };

struct known {
    uint64_t address;
    enum kind kind;
};

static struct known cache[CACHE];

static void fail(const char *what)
{
    fprintf(stderr, "step: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint64_t instruction_pointer(pid_t child)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, rip), 0);
}

/* Reads up to a page's end where the next page is not mapped. */
static size_t read_code(pid_t child, uint64_t address, uint8_t *code)
{
    for (size_t size = LONGEST; size > 0; size--) {
        struct iovec here = {code, size};
        struct iovec there = {(void *)address, size};
        if (process_vm_readv(child, &here, 1, &there, 1, 0) == (ssize_t)size)
            return size;
    }
    return 0;
}

static enum kind kind_at(pid_t child, uint64_t address)
{
    struct known *slot = &cache[(address ^ address >> 16) % CACHE];
    if (slot->address != address) {
        uint8_t code[LONGEST];
        size_t size = read_code(child, address, code);
        *slot = (struct known){address, kind_of(code, size)};
    }
    return slot->kind;
}

/* Says the counts and ends as the child has ended. */
static void finish(int status, const char *out, const struct counts *counts)
{
    FILE *file = fopen(out, "w");
    if (file == NULL)
        fail(out);
    print_counts(file, counts);
    fclose(file);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Goes on until the child stops again. The answer is a signal to hand on to it, 0 if it stopped for us alone. */
static int go_on(pid_t child, int how, int signal, const char *out, const struct counts *counts)
{
    int status;
    if (ptrace(how, child, 0, signal) != 0 || waitpid(child, &status, 0) != child)
        fail("ptrace");
    if (!WIFSTOPPED(status))
        finish(status, out, counts);
    return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

static void kill_child(pid_t child, const char *out, const struct counts *counts)
{
    int status;
    if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child)
        fail("kill");
    finish(status, out, counts);
}

static void run_to(pid_t child, uint64_t address, const char *out, const struct counts *counts)
{
    long word = ptrace(PTRACE_PEEKTEXT, child, address, 0);
    ptrace(PTRACE_POKETEXT, child, address, (word & ~0xffl) | BREAKPOINT);
    int signal = 0;
    do
        signal = go_on(child, PTRACE_CONT, signal, out, counts);
    while (instruction_pointer(child) != address + 1);
    ptrace(PTRACE_POKETEXT, child, address, word);
    ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, rip), address);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: step OUT FROM STEPS PROGRAM ARGUMENTS...\n");
        return 2;
    }
    const char *out = argv[1];
    uint64_t from = strtoull(argv[2], NULL, 0);
    uint64_t steps = strtoull(argv[3], NULL, 0);
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execvp(argv[4], argv + 4);
        fail(argv[4]);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        fail(argv[4]);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
    struct counts counts = {0};
    if (from != 0)
        run_to(child, from, out, &counts);
    int signal = 0;
    while (steps == 0 || counts.instructions < steps) {
        count(&counts, kind_at(child, instruction_pointer(child)));
        signal = go_on(child, PTRACE_SINGLESTEP, signal, out, &counts);
    }
    kill_child(child, out, &counts);
}

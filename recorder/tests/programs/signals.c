/* Faults ten times and mends each; divides by zero and jumps away; then dies of a fault. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf away;
static volatile int mended;

static void mend(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    mended++;
    mprotect((void *)((long)info->si_addr & ~4095L), 4096, PROT_READ | PROT_WRITE);
}

static void jump(int number) {
    (void)number;
    siglongjmp(away, 1);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
    volatile char *pages = mmap(0, 40960, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 10; i++) pages[i * 4096] = i + 1;
    signal(SIGFPE, jump);
    volatile int zero = 0;
    if (!sigsetjmp(away, 1)) printf("%d", 7 / zero);
    printf("%d\n", mended);
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    *(volatile int *)8 = 1;
    return 0;
}

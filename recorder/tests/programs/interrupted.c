/* A thread computes until another one interrupts it, three times. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t times;
static volatile int runs;
static volatile long numbers[8];

static void count(int number) {
    (void)number;
    times++;
}

static void *compute(void *unused) {
    runs = 1;
    for (long i = 0; times < 3; i++) numbers[i & 7] = i;
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, count);
    pthread_create(&thread, 0, compute, 0);
    while (!runs) usleep(100);
    for (int sent = 0; sent < 3; sent++) {
        pthread_kill(thread, SIGUSR1);
        /* Signals of one kind that wait are one. */
        while (times <= sent) usleep(100);
    }
    return pthread_join(thread, 0);
}

/* Two threads store a hundred numbers each, and the first then kills the process. Says where they store. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile long numbers[200];
static volatile int stored;

static void *other(void *unused) {
    for (int i = 100; i < 200; i++) numbers[i] = i + 1;
    stored = 1;
    for (;;) pause();
    return unused;
}

int main(void) {
    pthread_t thread;
    printf("%p\n", (void *)numbers);
    fflush(stdout);
    pthread_create(&thread, 0, other, 0);
    while (!stored) usleep(1000);
    for (int i = 0; i < 100; i++) numbers[i] = i + 1;
    kill(getpid(), SIGKILL);
    return 1;
}

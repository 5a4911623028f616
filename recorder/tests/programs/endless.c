/* Four threads that write and yield for ever; the first ends the process while they do. Says where they write. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static volatile long numbers[4][64];

static void *forever(void *mine) {
    for (volatile long *number = mine;; (*number)++) sched_yield();
}

int main(void) {
    pthread_t thread;
    printf("%p\n", (void *)numbers);
    fflush(stdout);
    for (int i = 0; i < 4; i++) pthread_create(&thread, 0, forever, (void *)numbers[i]);
    usleep(20000);
    return 9;
}

/* Four threads that write for ever; the first ends the process while they do. */
#include <pthread.h>
#include <unistd.h>

static volatile long numbers[4][64];

static void *forever(void *mine) {
    for (volatile long *number = mine;; (*number)++) {
    }
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 4; i++) pthread_create(&thread, 0, forever, (void *)numbers[i]);
    usleep(20000);
    return 9;
}

/* Two threads that count under a mutex and by locked additions. Says where the counters are. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static atomic_long locked;

static void *count(void *nothing) {
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        locked++;
    }
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(threads + i, 0, count, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%p %p %ld %ld\n", (void *)&counter, (void *)&locked, counter, locked);
    return 3;
}

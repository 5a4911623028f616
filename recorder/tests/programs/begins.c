/* A thread counts in a persistent word, while another one begins the recorded region. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 4 << 20 };
static volatile long *counter, seen;
static volatile int stop;

static void *count(void *nothing) {
    while (!stop) seen = ++*counter;
    return nothing;
}

__attribute__((noinline)) void work(void) {
    for (long first = seen; seen < first + 1000;) usleep(100);
    stop = 1;
}

int main(int arguments, char **words) {
    int file = open(words[arguments - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, BYTES)) return 1;
    char *pool = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (long at = 0; at < BYTES; at += 4096) pool[at] = 1; /* Pages of zeros are not told. */
    counter = (volatile long *)(pool + BYTES - 8);          /* In the last one: the others take time. */
    pthread_t thread;
    pthread_create(&thread, 0, count, 0);
    while (seen < 1000) usleep(100);
    work();
    pthread_join(thread, 0);
    return 0;
}

/* Stores a hundred numbers, and kills itself at once. Says where it stores. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile long numbers[100];

int main(void) {
    printf("%p\n", (void *)numbers);
    fflush(stdout);
    for (int i = 0; i < 100; i++) numbers[i] = i + 1;
    kill(getpid(), SIGKILL);
    return 1;
}

/* Stores a number persistently, says so, and waits for ever; with a second argument it says of SIGTERM that it came. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static void say(int number) {
    (void)number;
    if (write(1, "came\n", 5) != 5) _exit(3);
}

int main(int count, char **words) {
    int file = open(words[1], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    volatile long *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (count > 2) signal(SIGTERM, say);
    *pool = 7;
    if (write(1, "stored\n", 7) != 7) return 3;
    for (;;) pause();
}

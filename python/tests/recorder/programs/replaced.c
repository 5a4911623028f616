/* Stores to the pool, and becomes another program, at the second attempt. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **words) {
    int file = open(words[count - 1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096)) return 1;
    long *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pool == MAP_FAILED) return 1;
    pool[0] = 1;
    execl("/nowhere/true", "true", (char *)0);
    pool[1] = 2;
    execlp("true", "true", (char *)0);
    return 2;
}

/* Maps a file, and once more for itself, and writes to both. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096)) return 1;
    volatile char *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    volatile char *own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    pool[0] = 'a';
    own[1] = 'b';
    printf("%p\n", (void *)pool);
    return 0;
}

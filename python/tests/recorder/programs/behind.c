/* A flush in a function and one behind the end that the function's symbol says. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void flush(void *line);
void behind(void *line);
__asm__(".text\n.globl flush\n.type flush, @function\nflush: clwb (%rdi)\n ret\n.size flush, .-flush\n"
        ".globl behind\nbehind: clwb (%rdi)\n ret\n");

int main(int count, char **arguments) {
    int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 4096)) return 1;
    char *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pool[0] = 1;
    flush(pool + 1024);
    behind(pool + 2048);
    return 0;
}

/* Lets the kernel write into a mapped file: 4096 + 100 bytes by read, 10 of 20 by readv, 5 by pwrite to the file. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
    int zeros = open("/dev/zero", O_RDONLY);
    if (ftruncate(file, 1 << 20)) return 1;
    char *pool = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    struct iovec parts[] = {{pool + 100, 10}, {malloc(10), 10}};
    if (read(zeros, pool, 4096) != 4096 || read(zeros, pool + 8192, 100) != 100) return 2;
    if (readv(zeros, parts, 2) != 20 || pwrite(file, "hello", 5, 64) != 5) return 3;
    return read(zeros, parts[1].iov_base, 10) != 10;
}

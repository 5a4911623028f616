/* Lets the kernel write into a mapped file: 4096 + 100 bytes by read, 10 of 20 by readv, 5 by pwrite to the file, 3 + 4 of two
 * messages by recvmmsg; 4096 by a hole that fallocate makes, none by one that it fills, 4096 by an ftruncate that cuts, none by
 * one that does not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

    int ends[2];
    struct iovec buffers[] = {{pool + 300, 8}, {pool + 400, 8}};
    struct mmsghdr messages[2] = {{{.msg_iov = buffers, .msg_iovlen = 1}, 0}, {{.msg_iov = buffers + 1, .msg_iovlen = 1}, 0}};
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || write(ends[0], "abc", 3) != 3 || write(ends[0], "four", 4) != 4) return 4;
    if (recvmmsg(ends[1], messages, 2, 0, 0) != 2) return 5;
    if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 4096) || fallocate(file, 0, 0, 4096)) return 6;
    if (ftruncate(file, (1 << 20) - 4096) || ftruncate(file, 1 << 20)) return 7;
    return read(zeros, parts[1].iov_base, 10) != 10;
}

/* The kernel makes a mapping durable: which call, of which file, of which pages. Two pages: data, then a flag. */
#include "pool.h"
enum {
    RIGHT, FDATASYNC, MSYNC, INVALIDATE, SYNC, SYNCFS, UNMAPPED, OTHER_DESCRIPTOR,
    ASYNC, RANGE, OTHER_FILE, FAILED, ONE_PAGE, CLOSED
};

struct pool {
    word data[512];
    word flag;
    word unused[511];
};

static struct pool *make_durable(struct pool *p, int file, int other) {
    if (HOW == RIGHT) fsync(file);
    if (HOW == FDATASYNC) fdatasync(file);
    if (HOW == MSYNC) msync(p, sizeof *p, MS_SYNC);
    if (HOW == INVALIDATE) msync(p, sizeof *p, MS_SYNC | MS_INVALIDATE);
    if (HOW == SYNC) sync();
    if (HOW == SYNCFS) syncfs(file);
    if (HOW == UNMAPPED) {
        munmap(p, sizeof *p);
        fsync(file);
        p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (HOW == OTHER_DESCRIPTOR) {
        int again = dup(file);
        fsync(again);
        close(again);
    }
    if (HOW == ASYNC) msync(p, sizeof *p, MS_ASYNC);
    if (HOW == RANGE) sync_file_range(file, 0, sizeof *p, SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    if (HOW == OTHER_FILE) fsync(other);
    if (HOW == FAILED) fsync(-1);
    if (HOW == ONE_PAGE) msync((char *)p + 4096, 4096, MS_SYNC);
    if (HOW == CLOSED) close(dup(file));
    return p;
}

static void store(struct pool *p, int file, int other) {
    p->data[100] = 3; /* BUG */
    p = make_durable(p, file, other);
    p->flag = 1; /* MAY */
    make_durable(p, file, other);
}

int main(int count, char **words) {
    struct pool *pool = open_pool(words[1], sizeof *pool);
    if (count > 2) {
        REQUIRE(!pool->flag || pool->data[100] == 3);
        return 0;
    }
    store(pool, open(words[1], O_RDWR), open("/proc/self/exe", O_RDONLY));
    return 0;
}

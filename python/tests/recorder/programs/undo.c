/* A pair of words that are equal, updated behind an undo log. `make` and `update` write it, `recover` undoes what was
 * interrupted, `check` demands that both words are equal. `recover-bad` empties the log before the undone words are
 * durable: a crash inside it leaves half of an update, and no log. `recover-fails` ends with status 3 if there is
 * anything to undo. */
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    long left, pad0[7];
    long right, pad1[7];
    long logged, old, pad2[6];
} pool_t;

static void persist(void *at) {
    _mm_clwb(at);
    _mm_sfence();
}

static void update(pool_t *pool, long value) {
    pool->old = pool->left;
    persist(&pool->old);
    pool->logged = 1;
    persist(&pool->logged);
    pool->left = value;
    persist(&pool->left);
    pool->right = value;
    persist(&pool->right);
    pool->logged = 0;
    persist(&pool->logged);
}

static void recover(pool_t *pool, int is_bad) {
    if (!pool->logged) return;
    pool->left = pool->old;
    pool->right = pool->old;
    if (!is_bad) {
        _mm_clwb(&pool->left);
        persist(&pool->right);
    }
    pool->logged = 0;
    persist(&pool->logged);
    if (is_bad) {
        _mm_clwb(&pool->left);
        persist(&pool->right);
    }
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int file = open(words[2], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    pool_t *pool = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (pool == MAP_FAILED) return 2;
    if (!strcmp(words[1], "update")) update(pool, pool->left + 1);
    if (!strcmp(words[1], "recover-fails") && pool->logged) return 3;
    if (!strncmp(words[1], "recover", 7)) recover(pool, !strcmp(words[1], "recover-bad"));
    if (!strcmp(words[1], "check")) return pool->left != pool->right;
    return 0;
}

/* A pair of words that are equal, updated behind an undo log of two parts, one for each word. `update` writes it, commits by
 * emptying the first part, and then empties the second. `check` undoes what was interrupted and demands that both words are
 * equal. After a crash between the two, `check` leaves the second part full, and `again` (recovery and the next update) trusts
 * that it is empty: a crash in it restores a word of two updates ago. `again-clean` empties it before. */
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    long full, old, word, pad[5];
} part_t;

static void persist(void *at) {
    _mm_clwb(at);
    _mm_sfence();
}

static void empty(part_t *part) {
    part->full = 0;
    persist(part);
}

static void recover(part_t *parts) {
    if (!parts[0].full) return;
    for (int i = 1; i >= 0; i--) {
        if (parts[i].full) parts[i].word = parts[i].old;
        persist(&parts[i]);
    }
    empty(&parts[1]);
    empty(&parts[0]);
}

static void update(part_t *parts) {
    for (int i = 0; i < 2; i++) {
        if (!parts[i].full) {
            parts[i].old = parts[i].word;
            parts[i].full = 1;
            persist(&parts[i]);
        }
        parts[i].word++;
        persist(&parts[i]);
    }
    empty(&parts[0]);
    empty(&parts[1]);
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int file = open(words[2], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 4096) != 0) return 2;
    part_t *parts = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (parts == MAP_FAILED) return 2;
    if (strcmp(words[1], "update")) recover(parts);
    if (!strcmp(words[1], "again-clean")) empty(&parts[1]);
    if (strcmp(words[1], "check")) update(parts);
    return parts[0].word != parts[1].word;
}

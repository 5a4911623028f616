/* Publishes values behind a flag, with more and stronger flushes and fences than it needs: a second sfence, a flush of a
 * clean line, a line flushed twice, a clflush, and an mfence. `check` demands that a published value is there. */
#include <fcntl.h>
#include <immintrin.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { VALUES = 20 };

typedef struct {
    long value, pad0[7];
    long published, pad1[7];
    long clean, pad2[7];
} slot_t;

static void publish(slot_t *slot, long value) {
    slot->value = value;
    _mm_clwb(&slot->value);
    _mm_clwb(&slot->value); /* twice */
    _mm_mfence();
    _mm_sfence(); /* idle */
    slot->published = value;
    _mm_clflush(&slot->published);
    _mm_clwb(&slot->clean); /* clean */
    _mm_sfence();
}

static int check(const slot_t *slots) {
    for (int i = 0; i < VALUES; i++)
        if (slots[i].published && slots[i].value != slots[i].published) return 1;
    return 0;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    int file = open(words[2], O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, 8192) != 0) return 2;
    slot_t *slots = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (slots == MAP_FAILED) return 2;
    if (!strcmp(words[1], "check")) return check(slots);
    if (!strcmp(words[1], "publish"))
        for (int i = 0; i < VALUES; i++) publish(&slots[i], i + 1);
    return 0;
}

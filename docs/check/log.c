/* A log in persistent memory.
 *
 * log FILE VALUE...   appends the values
 * log FILE            prints them; exits with 1 if an entry is damaged */
#include <inttypes.h>
#include <libpmem.h>
#include <stdio.h>
#include <stdlib.h>

#define SEAL UINT64_C(0x5ea1ed)
#define ENTRIES 1000

struct log {
    uint64_t count;
    uint64_t padding[7]; /* the entries begin in a line of their own */
    struct entry {
        uint64_t value;
        uint64_t sealed; /* value ^ SEAL */
    } entries[ENTRIES];
};

static void append(struct log *log, uint64_t value) {
    struct entry *entry = &log->entries[log->count];
    entry->value = value;
    entry->sealed = value ^ SEAL;
    pmem_flush(entry, sizeof *entry);
    log->count++;
    pmem_flush(&log->count, sizeof log->count);
    pmem_drain();
}

static int print(const struct log *log) {
    for (uint64_t i = 0; i < log->count; i++) {
        if (log->entries[i].sealed != (log->entries[i].value ^ SEAL)) {
            fprintf(stderr, "entry %" PRIu64 " of %" PRIu64 " is damaged\n", i + 1, log->count);
            return 1;
        }
        printf("%" PRIu64 "\n", log->entries[i].value);
    }
    return 0;
}

int main(int count, char **words) {
    struct log *log = count < 2 ? NULL : pmem_map_file(words[1], sizeof *log, PMEM_FILE_CREATE, 0644, NULL, NULL);
    if (log == NULL) {
        fprintf(stderr, "usage: %s FILE [VALUE...], where FILE can be mapped\n", words[0]);
        return 2;
    }
    for (int i = 2; i < count && log->count < ENTRIES; i++) {
        append(log, strtoull(words[i], NULL, 10));
    }
    return count == 2 ? print(log) : 0;
}

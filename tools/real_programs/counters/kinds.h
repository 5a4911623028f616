/* What the counters of this folder tell apart, and how they say it: each decodes by itself, without the recorder's decoder. */
#ifndef STRANDLINE_KINDS_H
#define STRANDLINE_KINDS_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum kind { OTHER, CLWB, CLFLUSHOPT, CLFLUSH, SFENCE, MFENCE, STORE_NT, KINDS };
static const char *const NAMES[KINDS] = {"other", "clwbs", "clflushopts", "clflushes", "sfences", "mfences", "stores_nt"};

struct counts {
    uint64_t instructions;
    uint64_t of[KINDS];
};

static inline void count(struct counts *counts, enum kind kind)
{
    counts->instructions++;
    counts->of[kind]++;
}

/* One JSON object, with the names of a recording's totals. */
static inline void print_counts(FILE *file, const struct counts *counts)
{
    fprintf(file, "{\"instructions\": %" PRIu64, counts->instructions);
    for (int kind = CLWB; kind < KINDS; kind++)
        fprintf(file, ", \"%s\": %" PRIu64, NAMES[kind], counts->of[kind]);
    fprintf(file, "}\n");
}

/* Kind of an instruction of the two-byte map by its operation code, its prefix 0x66 and its ModRM byte. */
static inline enum kind two_byte(uint8_t code, bool wide, uint8_t modrm)
{
    bool memory = modrm < 0xc0;
    unsigned extension = modrm >> 3 & 7;
    if (code == 0xae && !memory)
        return extension == 7 ? SFENCE : extension == 6 && !wide ? MFENCE : OTHER;
    if (code == 0xae && wide)
        return extension == 6 ? CLWB : extension == 7 ? CLFLUSHOPT : OTHER;
    if (code == 0xae)
        return extension == 7 ? CLFLUSH : OTHER;
    /* movntps/pd, movnti, movntq/dq */
    return memory && (code == 0x2b || code == 0xc3 || code == 0xe7) ? STORE_NT : OTHER;
}

static inline bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x3e || byte == 0x64 || byte == 0x65 ||
           (byte & 0xf0) == 0x40;
}

static inline enum kind kind_of(const uint8_t *code, size_t size)
{
    size_t at = 0;
    bool wide = false;
    bool repeated = false;
    while (at < size && is_prefix(code[at])) {
        wide |= code[at] == 0x66;
        repeated |= code[at] == 0xf3;
        at++;
    }
    if (at + 2 < size && code[at] == 0x0f && !repeated)
        return two_byte(code[at + 1], wide, code[at + 2]);
    /* EVEX with the two-byte map, mm in the low bits: 62 x1 xx xx op modrm */
    if (at + 5 < size && code[at] == 0x62 && (code[at + 1] & 7) == 1 && code[at + 4] != 0xae)
        return two_byte(code[at + 4], false, code[at + 5]);
    /* VEX with the two-byte map: c5 xx op modrm, c4 x1 xx op modrm */
    if (at + 3 < size && code[at] == 0xc5 && code[at + 2] != 0xae)
        return two_byte(code[at + 2], false, code[at + 3]);
    if (at + 4 < size && code[at] == 0xc4 && (code[at + 1] & 0x1f) == 1 && code[at + 3] != 0xae)
        return two_byte(code[at + 3], false, code[at + 4]);
    return OTHER;
}

#endif

/* The undo log of COSPlay (MICRO 2021), Figure 4(a), as the runtime `undo` writes it.
 *
 * A region is one or more steps: log, order, update, finish. The last word of each persistent line is its trailer, the
 * number of the step that last wrote it. A record is a line of up to four old words of one line, and its trailer; that of
 * a packed row (with PACKED) goes on in lines of seven words.
 * Without LOGGED, the program only updates.
 */
#ifndef UNDO_H
#define UNDO_H

#include "twin.h"
#include <string.h>

enum step { MORE, LAST };

#ifdef LOGGED

#define RECORDS 1024
#define RECORD_WORDS 4
#define LANES 2048
#define TRAILER 7

struct record {
    word *target;
    word meta;
    word old_trailer;
    word old[RECORD_WORDS];
    word sequence;
};

static struct record ring[RECORDS] ALIGNED;
static word ring_next, region, step_number;
static struct { struct record *at; word own; } records[64];
static word *step_lines[64];
static word record_count, line_count;

static inline void region_begin(void)
{
    region++;
}

static inline void undo_record(word *target, word words, word trailer)
{
    struct record *record = &ring[ring_next];
    ring_next = ring_next + 1 == RECORDS ? 0 : ring_next + 1;
    record->sequence = 0;
    record->target = target;
    record->old_trailer = trailer;
    for (word i = 0; i < words; i++)
        record->old[i] = target[i];
    records[record_count].at = record;
    records[record_count].own = record_count << 4 | words;
    record_count++;
}

/* Logs the words at `at`, which are in one line. */
static inline void region_log(void *at, word bytes)
{
    word *target = at, *line = (word *)((uintptr_t)at & ~(uintptr_t)(LINE - 1));
    step_lines[line_count++] = line;
    word trailer = line[TRAILER];
    if (step_number < trailer)
        step_number = trailer;
    for (word words = bytes / 8; words > 0;) {
        word now = words < RECORD_WORDS ? words : RECORD_WORDS;
        undo_record(target, now, trailer);
        target += now;
        words -= now;
    }
}

#ifdef PACKED

#define FURTHER ((word)1 << 63)
#define FURTHER_WORDS 7

static inline word *undo_further(void)
{
    struct record *record = &ring[ring_next];
    ring_next = ring_next + 1 == RECORDS ? 0 : ring_next + 1;
    record->sequence = 0;
    records[record_count].at = record;
    records[record_count].own = FURTHER;
    record_count++;
    return (word *)record;
}

/* Logs a row of `bytes` bytes, without trailers, in one packed record. The step updates the row's first line only. */
static inline void region_log_packed(void *at, word bytes)
{
    word *row = at, words = (bytes + 7) / 8, first = words < RECORD_WORDS ? words : RECORD_WORDS;
    region_log(row, 8 * first);
    records[record_count - 1].own |= (words - first) << 56;
    /* The rest of one line of the row up to its trailer, and as many words of the next as that one's record began with. */
    for (word done = first; done < words; done += FURTHER_WORDS, row += LINE / 8) {
        word *line = undo_further();
        memcpy(line, row + RECORD_WORDS, 8 * (TRAILER - RECORD_WORDS));
        if (done + TRAILER - RECORD_WORDS < words)
            memcpy(line + TRAILER - RECORD_WORDS, row + LINE / 8, 8 * RECORD_WORDS);
    }
}

#endif

/* The records are durable before what follows. */
static inline void region_order(enum step step)
{
    step_number = (step_number | (LANES - 1)) + 1;
    word common = region << 24 | record_count << 14 | (word)step << 3;
    for (word i = 0; i < record_count; i++) {
        struct record *record = records[i].at;
#ifdef PACKED
        if (records[i].own & FURTHER) {
            record->sequence = step_number | FURTHER;
            flush(record);
            continue;
        }
#endif
        record->meta = common + records[i].own;
        record->sequence = step_number;
        flush(record);
    }
    record_count = 0;
    fence();
}

/* The step's lines get their trailers, and are durable; `step` is that of `region_order`. */
static inline void region_finish(enum step step)
{
    for (word i = 0; i < line_count; i++) {
        step_lines[i][TRAILER] = step_number;
        flush(step_lines[i]);
    }
    line_count = 0;
    /* Steps behind which others follow are ordered by the next one's fence. */
    if (step == LAST)
        fence();
}

#else

#define region_begin() ((void)0)
#define region_log(at, bytes) ((void)0)
#define region_log_packed(at, bytes) ((void)0)
#define region_order(step) ((void)0)
#define region_finish(step) ((void)0)

#endif

/* Logs `count` lines, each but for its trailer. */
#ifdef LOGGED
static inline void region_log_lines(void *at, word count)
{
    for (word i = 0; i < count; i++)
        region_log((char *)at + LINE * i, LINE - 8);
}
#else
#define region_log_lines(at, count) ((void)0)
#endif

#endif

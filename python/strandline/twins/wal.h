/* The write-ahead log with a logged bit of Speculative Persistence (ISCA 2017), section 3.1, as the runtime `log-p-sf`
 * writes it: log, logged word, updates, logged word, each durable before the next.
 *
 * A region is log, order, updates, finish. A record is a data line, with the logged words at their places, and an
 * address word elsewhere. Nodes are lines. Without LOGGED, the program only updates.
 */
#ifndef WAL_H
#define WAL_H

#include "twin.h"

/* Copies words: a function of its own, as a library has one. */
__attribute__((noipa, unused)) static void copy_words(void *to, const void *from, word bytes)
{
    for (word i = 0; i < bytes / 8; i++)
        ((word *)to)[i] = ((const word *)from)[i];
}

#ifdef LOGGED

#define RECORDS 1024

static word logged ALIGNED;
static word *addresses[RECORDS] ALIGNED;
static word data[RECORDS][LINE / 8] ALIGNED;
static void *step_lines[RECORDS];
static word record_count, line_count;

/* A free line, which is written: what it held is not kept. */
static inline void region_fresh(void *line)
{
    step_lines[line_count++] = line;
}

/* Logs the first `bytes` of a line. */
static inline void region_log(void *line, word bytes)
{
    region_fresh(line);
    copy_words(data[record_count], line, bytes);
    addresses[record_count] = (word *)((uintptr_t)line | (bytes / 8 - 1) << 3);
    record_count++;
}

static inline void region_mark(word count)
{
    logged = count;
    flush(&logged);
}

static inline void region_order(void)
{
    for (word i = 0; i < record_count; i++)
        flush(data[i]);
    for (word i = 0; i < record_count; i += LINE / 8)
        flush(&addresses[i]);
    fence();
    region_mark(record_count);
    fence();
}

static inline void region_finish(void)
{
    for (word i = 0; i < line_count; i++)
        flush(step_lines[i]);
    fence();
    region_mark(0);
    fence();
    record_count = line_count = 0;
}

#else

#define region_fresh(line) ((void)0)
#define region_log(line, bytes) ((void)0)
#define region_order() ((void)0)
#define region_finish() ((void)0)

#endif

#endif

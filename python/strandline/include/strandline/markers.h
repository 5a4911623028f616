/*
 * Markers: instructions that do nothing, by which a program tells a strandline recording what it means.
 *
 * For C and C++, gcc and clang, any standard; nothing to link. A marker is `nop DWORD PTR [rax + 0x53545200 + code]`
 * (bytes 0f 1f 80, then 32 bits), which reads no memory and costs one instruction. A program that is not recorded runs as
 * if it were not there. The compiler moves no memory access across it. On other machines than x86-64 markers are empty.
 *
 * Each speaks for the thread that executes it. A recording needs none of them: without markers it takes every sfence or
 * mfence after a flush as an ordering point, and the last one before a lock's release as a durability point. See
 * docs/recordings.md, "Markers".
 */
#ifndef STRANDLINE_MARKERS_H
#define STRANDLINE_MARKERS_H

#if defined(__x86_64__)
#define STRANDLINE_MARKER_(code) \
    __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80\n\t.long 0x53545200 + " #code : : : "memory")
#else
#define STRANDLINE_MARKER_(code) ((void)0)
#endif

/* A task begins: one operation or transaction, the unit that results are counted by. */
#define STRANDLINE_TASK_BEGIN() STRANDLINE_MARKER_(1)

/* The task has ended. */
#define STRANDLINE_TASK_END() STRANDLINE_MARKER_(2)

/* Everything that this thread has written is durable from here on: an operation is acknowledged. It stands in place of
 * the fence before it. */
#define STRANDLINE_DURABLE() STRANDLINE_MARKER_(3)

/* What this thread has written persists before what it writes from here on. */
#define STRANDLINE_ORDER() STRANDLINE_MARKER_(4)

/* A new strand begins: what follows need not persist after what came before. */
#define STRANDLINE_NEW_STRAND() STRANDLINE_MARKER_(5)

/* A lock or another synchronisation variable was acquired: by the thread's last load or locked instruction. Only needed
 * where no locked instruction of the program accesses the variable. */
#define STRANDLINE_ACQUIRE() STRANDLINE_MARKER_(6)

/* A lock or another synchronisation variable is about to be released: by the thread's next store or locked instruction.
 * Only needed where no locked instruction of the program accesses the variable. */
#define STRANDLINE_RELEASE() STRANDLINE_MARKER_(7)

/* The region to record begins, for all threads (`strandline record --from marker`). */
#define STRANDLINE_REGION_BEGIN() STRANDLINE_MARKER_(8)

/* The region to record has ended. */
#define STRANDLINE_REGION_END() STRANDLINE_MARKER_(9)

/* The operating system is about to move or replace this thread: what it has written must not wait in its core. */
#define STRANDLINE_CONTEXT_SWITCH() STRANDLINE_MARKER_(10)

/* A device is about to read or write memory: what this thread has written must not wait in its core. */
#define STRANDLINE_DMA() STRANDLINE_MARKER_(11)

#endif

/* Two roots take turns: the newest whole one is the root. A torn one falls back to the other. */
#include "pool.h"
enum { RIGHT, SEQUENCE_LAST, CHECKSUM, NT_ROOT, SAME_ROOT, NEWER_FIRST };

struct pool {
    struct root {
        LINE word value; /* ten times the sequence */
        word sequence;
        LINE word far; /* CHECKSUM, NT_ROOT: in a second line */
        word sum;
    } roots[2];
};

static int is_far(void) {
    return HOW == CHECKSUM || HOW == NT_ROOT || HOW == SAME_ROOT;
}

static void update(struct pool *p, uint64_t sequence) {
    struct root *r = &p->roots[HOW == SAME_ROOT ? 0 : sequence % 2];
    if (HOW == NEWER_FIRST) r->sequence = sequence; /* BUG: NEWER_FIRST */
    if (HOW == NT_ROOT) {
        store_nt(&r->value, 10 * sequence);
        store_nt(&r->far, 10 * sequence);
        store_nt(&r->sum, 20 * sequence + 1);
    } else {
        r->value = 10 * sequence; /* BUG */
    }
    if (HOW == CHECKSUM || HOW == SAME_ROOT) r->far = 10 * sequence; /* BUG: SAME_ROOT */
    if (HOW == CHECKSUM || HOW == SAME_ROOT) r->sum = 20 * sequence + 1; /* BUG: SAME_ROOT */
    if (HOW == RIGHT) persist(&r->value, 8);
    if (HOW == RIGHT || HOW == SEQUENCE_LAST) r->sequence = sequence;
    if (HOW == NT_ROOT) fence();
    else persist(r, is_far() ? sizeof *r : 16);
}

static uint64_t sequence_of(struct root *r) {
    if (!is_far()) return r->sequence;
    return r->value == r->far && r->sum == r->value + r->far + 1 ? r->value / 10 : 0;
}

static void run(struct pool *p) {
    for (int i = 1; i < 6; i++) {
        STRANDLINE_TASK_BEGIN();
        update(p, i);
        STRANDLINE_TASK_END();
    }
}

static void check(struct pool *p) {
    struct root *r = &p->roots[sequence_of(&p->roots[1]) > sequence_of(&p->roots[0])];
    REQUIRE(sequence_of(r) >= acknowledged(0));
    REQUIRE(r->value == 10 * sequence_of(r) || is_far());
}

PROGRAM

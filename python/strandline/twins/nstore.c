/* nstore: StrandWeaver (ISCA 2020), Table II "N-Store", after N-Store's YCSB: a B+ tree leads to tuples of ten fields of
 * 100 bytes, each an allocation of its own. Reads copy all fields of a tuple, updates write them. Keys are zipfian, by
 * the alias method, and drawn in the transaction. */
#include "txn.h"
#include <math.h>
#include <string.h>

#ifndef ROWS
#define ROWS 2000
#endif

#define READS 50
#define FIELDS 10
#define FIELD_WORDS 13
#define LINE_WORDS 7
#define NODE_ENTRIES 24

/* A field has thirteen words, in two lines. */
struct field {
    word first[LINE_WORDS];
    word trailer_of_first;
    word rest[FIELD_WORDS - LINE_WORDS];
} ALIGNED;

struct tuple {
    word key, version;
    struct field *fields[FIELDS];
} ALIGNED;

/* Unused entries have the highest key. */
struct node {
    word keys[NODE_ENTRIES];
    void *children[NODE_ENTRIES];
} ALIGNED;

static struct tuple tuples[ROWS];
static struct node *root;
static word levels;
static lock_t locks[ROWS];
static struct { word own, other; } aliases[ROWS];
static word buffer[FIELDS][FIELD_WORDS];

static word draw_key(void)
{
    word key = random_below(ROWS);
    return random_below((word)1 << 31) < aliases[key].own ? key : aliases[key].other;
}

static struct tuple *find(word key)
{
    void *at = root;
    for (word level = levels; level > 0; level--) {
        struct node *node = at;
        word low = 0, high = NODE_ENTRIES;
        while (low + 1 < high) {
            word middle = (low + high) / 2;
            if (key < node->keys[middle])
                high = middle;
            else
                low = middle;
        }
        at = node->children[low];
    }
    return at;
}

static void read_all(struct tuple *tuple)
{
    for (word i = 0; i < FIELDS; i++) {
        memcpy(buffer[i], tuple->fields[i]->first, 8 * LINE_WORDS);
        memcpy(buffer[i] + LINE_WORDS, tuple->fields[i]->rest, 8 * (FIELD_WORDS - LINE_WORDS));
    }
}

static void write_field(struct field *field, word content)
{
    region_pair(field->first, LINE_WORDS);
    for (word i = 0; i < LINE_WORDS; i++)
        field->first[i] = content + i;
    region_pair(field->rest, FIELD_WORDS - LINE_WORDS);
    for (word i = 0; i < FIELD_WORDS - LINE_WORDS; i++)
        field->rest[i] = content + LINE_WORDS + i;
}

static void update_all(struct tuple *tuple)
{
    word version = tuple->version + 1;
    region_begin();
    for (word i = 0; i < FIELDS; i++)
        write_field(tuple->fields[i], tuple->key << 40 | version << 8 | i << 4);
    region_pair(&tuple->version, 1);
    tuple->version = version;
    region_end();
}

void operation(void)
{
    int reads = random_below(100) < READS;
    word key = draw_key();
    struct tuple *tuple = find(key);
    lock_take(&locks[key]);
    if (reads)
        read_all(tuple);
    else
        update_all(tuple);
    lock_leave(&locks[key]);
}

/* Vose's tables of the weights 1 / rank^0.99. */
static void fill_aliases(void)
{
    static double shares[ROWS];
    static word poor[ROWS], rich[ROWS];
    double sum = 0;
    word poor_count = 0, rich_count = 0;
    for (word i = 0; i < ROWS; i++)
        sum += shares[i] = pow((double)((i * 7919) % ROWS + 1), -0.99);
    for (word i = 0; i < ROWS; i++) {
        shares[i] *= ROWS / sum;
        aliases[i].own = (word)1 << 31;
        aliases[i].other = i;
        *(shares[i] < 1 ? &poor[poor_count++] : &rich[rich_count++]) = i;
    }
    while (poor_count > 0 && rich_count > 0) {
        word low = poor[--poor_count], high = rich[rich_count - 1];
        aliases[low].own = (word)(shares[low] * 2147483648.0);
        aliases[low].other = high;
        shares[high] -= 1 - shares[low];
        if (shares[high] < 1)
            poor[poor_count++] = rich[--rich_count];
    }
}

/* A node over each 24 of the level below. */
static void build_index(void)
{
    static word keys[ROWS];
    static void *below[ROWS];
    word count = ROWS;
    for (word i = 0; i < ROWS; i++) {
        keys[i] = i;
        below[i] = &tuples[i];
    }
    for (levels = 0; levels == 0 || count > 1; levels++) {
        word nodes = (count + NODE_ENTRIES - 1) / NODE_ENTRIES;
        for (word i = 0; i < nodes; i++) {
            struct node *node = lines(sizeof *node);
            for (word k = 0; k < NODE_ENTRIES; k++) {
                word at = i * NODE_ENTRIES + k;
                node->keys[k] = at < count ? keys[at] : UINT64_MAX;
                node->children[k] = at < count ? below[at] : NULL;
            }
            keys[i] = node->keys[0];
            below[i] = node;
        }
        count = nodes;
    }
    root = below[0];
}

void build(void)
{
    for (word i = 0; i < ROWS; i++) {
        tuples[i].key = i;
        for (word k = 0; k < FIELDS; k++)
            tuples[i].fields[k] = lines(sizeof(struct field));
        for (word k = 0; k < FIELDS; k++)
            for (word w = 0; w < FIELD_WORDS; w++)
                *(w < LINE_WORDS ? &tuples[i].fields[k]->first[w] : &tuples[i].fields[k]->rest[w - LINE_WORDS]) =
                    i << 40 | k << 4 | w;
        lock_init(&locks[i]);
    }
    build_index();
    fill_aliases();
}

/* The index leads to each tuple, whose fields have its version. */
int check(void)
{
    for (word i = 0; i < ROWS; i++) {
        struct tuple *tuple = find(i);
        if (tuple->key != i)
            return 0;
        for (word k = 0; k < FIELDS; k++)
            if (tuple->fields[k]->rest[0] != (i << 40 | tuple->version << 8 | k << 4 | LINE_WORDS))
                return 0;
    }
    return 1;
}

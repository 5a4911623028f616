
/* The pool: a line that says what it is, then the lines of each copy of the test. */
struct head {
    uint64_t magic, copies;
    char name[48];
};

#define MAGIC UINT64_C(0x31656e696c647473)

static const char *program;

static _Noreturn void fail(const char *what, const char *mend) {
    fprintf(stderr, "%s: %s: %s\n", program, what, mend);
    exit(2);
}

static uint64_t number(const char *text, uint64_t least) {
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < least || value > UINT32_MAX)
        fail(text, least ? "give a number from 1" : "give a number from 0");
    return value;
}

static struct head head_of(uint64_t copies) {
    struct head head = {MAGIC, copies, ""};
    strncpy(head.name, NAME, sizeof head.name - 1);
    return head;
}

static void *allocated(uint64_t count, size_t size) {
    void *rows = calloc(count, size ? size : 1);
    if (!rows) fail("no memory", "give fewer ITERATIONS");
    return rows;
}

static size_t lines_of(uint64_t copies) { return 1 + copies * PM_LINES; }

/* The file or device in memory, as large as so many copies need. */
static struct line *mapped(const char *path, uint64_t copies) {
    size_t bytes = lines_of(copies) * sizeof(struct line);
    struct stat known;
    int file = open(path, O_RDWR | O_CREAT, 0666);
    if (file < 0 || fstat(file, &known)) fail(path, strerror(errno));
    if (S_ISREG(known.st_mode) && (size_t)known.st_size < bytes && ftruncate(file, (off_t)bytes))
        fail(path, strerror(errno));
#ifdef POOL_AT
    void *at = mmap((void *)(POOL_AT), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
#else
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
#endif
    if (at == MAP_FAILED) fail(path, strerror(errno));
    close(file);
    return at;
}

static void write_back(struct line *lines, size_t count) {
    for (size_t i = 0; i < count; i++) CLFLUSH(lines[i]);
    MFENCE();
}

static void start(struct line *lines, enum memory memory) {
    for (size_t i = 0; i < PLACE_COUNT; i++)
        if (PLACES[i].memory == memory) lines[PLACES[i].line].word[PLACES[i].word] = PLACES[i].initial;
}

static bool is_prepared(const struct line *pool, uint64_t copies) {
    struct head head = head_of(copies);
    if (memcmp(pool, &head, sizeof head)) return false;
    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < PLACE_COUNT; i++) {
            const struct line *lines = pool + lines_of(copy);
            if (PLACES[i].memory == PM && lines[PLACES[i].line].word[PLACES[i].word] != PLACES[i].initial) return false;
        }
    return true;
}

/* The head is durable only while all copies are as they start. */
static void prepare(struct line *pool, uint64_t copies) {
    struct head head = head_of(copies);
    pool->word[0] = 0;
    write_back(pool, 1);
    memset(pool + 1, 0, (lines_of(copies) - 1) * sizeof *pool);
    for (uint64_t copy = 0; copy < copies; copy++) start(pool + lines_of(copy), PM);
    write_back(pool + 1, lines_of(copies) - 1);
    memcpy(pool, &head, sizeof head);
    write_back(pool, 1);
}

static struct {
    struct line *pool, *dram;
    uint64_t *seen;
    uint64_t copies, delay, seed;
} run;

/* Copies that each column has begun: plain stores, because a locked instruction would order flushes. */
static struct {
    _Alignas(64) atomic_uint_fast64_t begun;
} columns[COLUMN_COUNT];

static uint64_t mixed(uint64_t x) {
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static void meet(unsigned column, uint64_t copy) {
    atomic_store_explicit(&columns[column].begun, copy + 1, memory_order_release);
    for (unsigned other = 0; other < COLUMN_COUNT; other++)
        for (unsigned spins = 0; atomic_load_explicit(&columns[other].begun, memory_order_acquire) <= copy; spins++)
            if (spins > 1000) sched_yield();
}

static void *play(void *number) {
    unsigned column = (unsigned)(uintptr_t)number;
    for (uint64_t copy = 0; copy < run.copies; copy++) {
        uint64_t wait = mixed(run.seed * 0x10001 + copy * COLUMN_COUNT + column) % (run.delay + 1);
        meet(column, copy);
        while (wait--) __asm__ volatile("nop");
        COLUMNS[column](copy, run.pool + lines_of(copy), run.dram + copy * DRAM_LINES, run.seen + copy * SEEN_COUNT);
    }
    return NULL;
}

static size_t width;

static int compare(const void *a, const void *b) { return memcmp(a, b, width); }

/* Sorts rows of `width` bytes, and shows each once with how often it occurs. */
static void count_rows(uint8_t *rows, uint64_t copies, void show(const uint8_t *row, uint64_t count)) {
    uint64_t first = 0;
    qsort(rows, copies, width, compare);
    for (uint64_t i = 1; i <= copies; i++)
        if (i == copies || compare(rows + first * width, rows + i * width)) {
            show(rows + first * width, i - first);
            first = i;
        }
}

static void show_registers(const uint8_t *row, uint64_t count) {
    printf("# registers");
    for (size_t i = 0; i < SEEN_COUNT; i++) printf(" %s=%u", SEEN[i], row[i]);
    printf(", %" PRIu64 " times\n", count);
}

static void show_state(const uint8_t *row, uint64_t count) {
    const char *comma = "";
    fputs("{\"test\": " TEST ", \"state\": {", stdout);
    for (size_t i = 0; i < PLACE_COUNT; i++)
        if (PLACES[i].memory != DRAM) {
            printf("%s\"%s\": %u", comma, PLACES[i].name, row[i]);
            comma = ", ";
        }
    printf("}, \"count\": %" PRIu64 "}\n", count);
}

static void check_processor(void) {
#if !defined(TRUST_CPU) && !defined(ONLY_CLFLUSH)
    unsigned a, b = 0, c, d;
    const char *mend = "compile with -DTRUST_CPU if it has one, or -DONLY_CLFLUSH to flush by clflush";
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) b = 0;
    if (USES_CLWB && !(b & bit_CLWB)) fail("this processor has no clwb", mend);
    if (USES_CLFLUSHOPT && !(b & bit_CLFLUSHOPT)) fail("this processor has no clflushopt", mend);
#endif
}

static void play_all(void) {
    pthread_t threads[COLUMN_COUNT];
    for (uintptr_t i = 0; i < COLUMN_COUNT; i++)
        if (pthread_create(&threads[i], NULL, play, (void *)i)) fail("no thread", "allow more of them");
    for (unsigned i = 0; i < COLUMN_COUNT; i++) pthread_join(threads[i], NULL);
}

static void run_test(void) {
    run.dram = aligned_alloc(64, (1 + run.copies * DRAM_LINES) * sizeof(struct line));
    if (!run.dram) fail("no memory", "give fewer ITERATIONS");
    memset(run.dram, 0, (1 + run.copies * DRAM_LINES) * sizeof(struct line));
    for (uint64_t copy = 0; copy < run.copies; copy++) start(run.dram + copy * DRAM_LINES, DRAM);
    run.seen = allocated(run.copies, SEEN_COUNT * sizeof(uint64_t));
    printf("# pool at %p, %zu bytes\n# begin\n", (void *)run.pool, lines_of(run.copies) * sizeof(struct line));
    fflush(stdout);
    AT_BEGIN();
    play_all();
    AT_END();
    width = SEEN_COUNT;
    uint8_t *rows = allocated(run.copies, width);
    for (size_t i = 0; i < run.copies * width; i++) rows[i] = (uint8_t)run.seen[i];
    printf("# end\n");
    if (width) count_rows(rows, run.copies, show_registers);
}

/* The pool in a dump, wherever it begins. */
static const struct line *found(const struct line *dump, size_t lines, const char *path, uint64_t *copies) {
    const struct line *pool = NULL;
    for (size_t i = 0; i < lines; i++) {
        struct head head = head_of(dump[i].word[1]);
        if (memcmp(dump + i, &head, sizeof head)) continue;
        if (pool) fail(path, "has the pool of this test twice: cut one out");
        pool = dump + i;
    }
    if (!pool) fail(path, "has no pool of " NAME ": the power failed before the run, or flushes do not reach the memory");
    *copies = pool->word[1];
    size_t rest = lines - (size_t)(pool - dump) - 1;
    if (PM_LINES && *copies > rest / PM_LINES) fail(path, "ends within the pool: dump more");
    return pool;
}

/* The outputs that a run has printed. */
static void hear(const char *path, uint8_t *rows, uint64_t copies) {
    char line[4096], name[32];
    uint64_t copy;
    unsigned value;
    FILE *console = path ? fopen(path, "r") : NULL;
    if (!console) fail(path ? path : "this test has outputs", "give the text that the run printed behind DUMP");
    while (fgets(line, sizeof line, console)) {
        const char *told = strstr(line, "# out ");
        if (!told || sscanf(told, "# out %" SCNu64 " %31s %u", &copy, name, &value) != 3 || copy >= copies) continue;
        for (size_t i = 0; i < PLACE_COUNT; i++)
            if (PLACES[i].memory == OUTPUT && !strcmp(PLACES[i].name, name)) rows[copy * PLACE_COUNT + i] = (uint8_t)value;
    }
    fclose(console);
}

static void read_dump(const char *path, const char *console) {
    uint64_t copies;
    bool has_outputs = false;
    struct stat known;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &known)) fail(path, strerror(errno));
    const void *dump = mmap(NULL, (size_t)known.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (dump == MAP_FAILED) fail(path, strerror(errno));
    const struct line *pool = found(dump, (size_t)known.st_size / sizeof(struct line), path, &copies);
    width = PLACE_COUNT;
    uint8_t *rows = allocated(copies, width);
    for (uint64_t copy = 0; copy < copies; copy++)
        for (size_t i = 0; i < PLACE_COUNT; i++) {
            if (PLACES[i].memory == PM)
                rows[copy * width + i] = (uint8_t)pool[lines_of(copy) + PLACES[i].line].word[PLACES[i].word];
            has_outputs |= PLACES[i].memory == OUTPUT;
        }
    if (has_outputs) hear(console, rows, copies);
    count_rows(rows, copies, show_state);
}

int main(int argc, char **argv) {
    program = argv[0];
    const char *usage = "POOL [ITERATIONS [DELAY [SEED]]], or --prepare POOL [ITERATIONS], or --read DUMP [CONSOLE]";
    if (argc > 1 && !strcmp(argv[1], "--read")) {
        if (argc != 3 && argc != 4) fail("usage", usage);
        read_dump(argv[2], argv[3]);
        return 0;
    }
    bool prepares = argc > 1 && !strcmp(argv[1], "--prepare");
    if (prepares) argc--, argv++;
    if (argc < 2 || argc > (prepares ? 3 : 5) || *argv[1] == '-') fail("usage", usage);
    run.copies = argc > 2 ? number(argv[2], 1) : 1000;
    run.delay = argc > 3 ? number(argv[3], 0) : 1000;
    run.seed = argc > 4 ? number(argv[4], 0) : 1;
    if (!prepares) check_processor();
    run.pool = mapped(argv[1], run.copies);
    if (prepares || !is_prepared(run.pool, run.copies)) prepare(run.pool, run.copies);
    if (!prepares) run_test();
    return 0;
}

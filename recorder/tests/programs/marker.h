/* Markers: nops that name the program's structure (crates/capture says which). */
#define MARK(code) __asm__ volatile(".byte 0x0f, 0x1f, 0x80; .long 0x53545200 + %c0" ::"i"(code) : "memory")
#define REGION_BEGIN 8
#define REGION_END 9

/* Runs code that it writes itself, changes it and runs it again; and code of a library that it opens. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $0, %eax; ret */
    unsigned char *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        code[1] = i;
        memcpy(page, code, sizeof code);
        sum += ((int (*)(void))page)();
    }
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
    printf("%d %.0f %p\n", sum, cosine(0), (void *)page);
    return 0;
}

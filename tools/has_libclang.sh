#!/bin/sh
# Whether there is a libclang where bindgen looks for it.
[ -n "$LIBCLANG_PATH" ] && exit 0
command -v llvm-config >/dev/null && exit 0
ldconfig -p 2>/dev/null | grep -q libclang && exit 0
for folder in /usr/lib/llvm-*/lib /usr/lib64 /usr/local/lib; do
    ls "$folder"/libclang*.so* >/dev/null 2>&1 && exit 0
done
exit 1

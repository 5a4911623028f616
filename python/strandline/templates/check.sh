#!/bin/sh
# Builds the driver of KIND.c, records it, and checks its crash states.
# Options go to `strandline check`: sh check.sh --points 5000. Sizes are macros: CFLAGS="-g -O1 -DTHREADS=2" sh check.sh
set -eu
cd "$(dirname "$0")"
: "${CC:=cc}" "${CFLAGS:=-g -O1}" "${SOURCE:=KIND.c}" "${LIBS:=}" # of your library; a source in C++ needs CC=c++
export PMEM_IS_PMEM_FORCE=1 # libpmem flushes as on persistent memory
include=$(strandline record --include)
# shellcheck disable=SC2086 # several words
$CC $CFLAGS -pthread -I "$include" -o KIND "$SOURCE" $LIBS
rm -f KIND.pm
./KIND KIND.pm create
strandline record --pm KIND.pm --from marker -o KIND.strand -- ./KIND KIND.pm run
strandline check KIND.strand --verify "'$PWD/KIND' {} check" "$@"

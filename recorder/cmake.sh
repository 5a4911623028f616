#!/bin/sh
# cmake for the build script of dynamorio-sys, which builds DynamoRIO's target `all`: of it, only the libraries that the client uses.
set -eu
for word; do
    shift
    case $word in
    all) set -- "$@" dynamorio drmgr drreg drutil ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec cmake "$@"

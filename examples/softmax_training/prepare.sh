#!/bin/sh
# Builds the program against the dispatch in $APO_DISPATCH, and the kernel that the dispatch chooses for its sizes.
set -e
here=$(dirname "$0")
g++ -std=c++20 -O3 -march=native -I "$APO_DISPATCH" "$here/training.cpp" -o "$APO_DISPATCH/training" -ldl
g++ -std=c++20 -O3 -march=native -shared -fPIC "$APO_DISPATCH/$("$APO_DISPATCH/training" --kernel)" -o "$APO_DISPATCH/kernel.so"

#!/bin/sh
# run.sh DISPATCH - builds the program with the kernel that the exported dispatch in the folder DISPATCH chooses, runs it.
set -e
here=$(dirname "$0")
g++ -std=c++20 -I "$1" "$here/choice.cpp" -o "$1/choice"
set -- "$1" $("$1/choice")
dispatch=$1 folder=$1/$2 file=$3
shift 3
g++ -std=c++20 -O3 -march=native -I "$dispatch" -I "$folder" -I "$here/../.." "$@" "$here/main.cpp" "$folder/$file" -o "$dispatch/main"
"$dispatch/main"

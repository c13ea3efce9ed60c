#!/usr/bin/env bash
# experiments/bundle.sh FOLDER - the built program with the libraries that it needs, for a machine that cannot build it.
#
# There: LD_LIBRARY_PATH=FOLDER/lib APO_HOME=CHECKOUT FOLDER/apo doctor
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=${1:?usage: experiments/bundle.sh FOLDER}
"$root/apo" --version >/dev/null
mkdir -p "$folder/lib"
cp "$root/build/release/bin/apo" "$folder/apo"
# The GPU's tests, and what experiments/profile_defects.sh and experiments/lost_gpu.sh need, where the tests are configured.
if grep -q '^BUILD_TESTING:BOOL=ON' "$root/build/release/CMakeCache.txt"; then
  cmake --build "$root/build/release" --target variant_launcher launcher_program losing_driver cuda_tests worker_program >/dev/null
fi
for file in libapo_inject.so variant_launcher launcher_program liblosing_driver.so cuda_tests worker_program; do
  [ ! -e "$root/build/release/bin/$file" ] || cp "$root/build/release/bin/$file" "$folder/"
done
# The two builds of examples/ci, for experiments/suite_gate.sh.
for side in OFF ON; do
  if cmake -S "$root/examples/ci" -B "$root/build/ci/$side" -DPLANTED=$side >/dev/null 2>&1; then
    cmake --build "$root/build/ci/$side" >/dev/null
    mkdir -p "$folder/$side"
    cp "$root/build/ci/$side/library_benchmarks" "$folder/$side/"
  fi
done
# The C and C++ run-time libraries are the other machine's own.
ldd "$folder/apo" "$folder"/cuda_tests "$folder"/O*/library_benchmarks 2>/dev/null | awk '$2 == "=>" { print $3 }' | sort -u | grep -Ev '/(libc|libm|libstdc\+\+|libgcc_s|libgomp|ld-linux[^/]*)\.so' |
  xargs -I{} cp -L {} "$folder/lib/"

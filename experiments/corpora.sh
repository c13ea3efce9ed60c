#!/usr/bin/env bash
# experiments/corpora.sh BUNDLE OUT CORPORA [TABLE...] - judges the kernels of public corpora that are Python, on a GPU.
#
# BUNDLE is from bundle.sh. CORPORA has a clone of each repository that the first lines of corpora/tables/*.txt name, by its
# own name. Needs PyTorch 2.1 or newer and Triton for python3, and nvcc for the table compiled_cuda. TABLE is a name in
# corpora/tables; without one, all but that and those of .cu files. Rows come as they are judged, to OUT/results.md; one of
# more than LIMIT seconds (default: 40; compiled_cuda needs 150) is not checked.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
corpora=$(readlink -f "${3:?$usage}")
shift 3
[ $# -gt 0 ] || set -- gpuemu sol_execbench pygpubench kernelbot kernelbench_com
tables=("${@/#/$root/experiments/corpora/tables/}")
APO=$apo exec python3 "$root/experiments/corpora.py" "${tables[@]/%/.txt}" "$corpora" "$out" --jobs "$(nproc)" --limit "${LIMIT:-40}"

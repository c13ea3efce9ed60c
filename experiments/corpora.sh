#!/usr/bin/env bash
# experiments/corpora.sh BUNDLE OUT CORPORA [TABLE...] - judges the kernels of public corpora that are Python, on a GPU.
#
# BUNDLE is from bundle.sh. CORPORA has a clone of each repository that the first lines of corpora/tables/*.txt name, by its
# own name. Needs PyTorch 2.1 or newer and Triton for python3; without TABLE, names in corpora/tables, all that need no nvcc.
# Rows come as they are judged, to OUT/results.md; a row of more than 20 s is not checked.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
corpora=$(readlink -f "${3:?$usage}")
shift 3
[ $# -gt 0 ] || set -- gpuemu kernelbench_tests sol_execbench pygpubench kernelbot kernelbench_com
tables=("${@/#/$root/experiments/corpora/tables/}")
APO=$apo exec python3 "$root/experiments/corpora.py" "${tables[@]/%/.txt}" "$corpora" "$out" --jobs 12 --limit 20

#!/usr/bin/env bash
# experiments/profile_defects.sh BUNDLE OUT [JOB...] - does `apo profile` see what is wrong with a kernel, and how fast?
#
# BUNDLE is from bundle.sh, of a build with the tests. Jobs, all of them where none is named:
#   profile   every kernel of tests/zoo/profile: its first diagnosis and line against the planted ones, OUT/profile.md
#   ncu       what the rules of Nsight Compute say first on the same launches, OUT/ncu.md
#   speed     whole processes against each other, the same counters of the same kernels, median of 3, OUT/speed.md
#   tracing   host time of a launch with and without `apo profile -- COMMAND`, OUT/tracing.md
# Fails when a diagnosis is not the planted one. A clean kernel is right when the first diagnosis is no cause.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
usage="usage: experiments/profile_defects.sh BUNDLE OUT [profile|ncu|speed|tracing...]"
bundle=$(readlink -f "${1:?$usage}")
mkdir -p "${2:?$usage}"
out=$(readlink -f "$2")
shift 2
jobs=("$@")
[ ${#jobs[@]} -gt 0 ] || jobs=(profile ncu speed tracing)
# NVRTC finds its built-in functions beside itself, or here.
export LD_LIBRARY_PATH=$bundle/lib:${CUDA_HOME:-/usr/local/cuda}/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} APO_HOME=$root APO_JOURNAL=$out/journal.db
families=$bundle/libapo_zoo_families.so
for file in apo libapo_zoo_families.so variant_launcher launcher_program; do
  [ -e "$bundle/$file" ] || { echo "$bundle has no $file: build with the tests, then run experiments/bundle.sh" >&2; exit 1; }
done
# Where NVIDIA's packages put ncu.
for folder in "${CUDA_HOME:-/usr/local/cuda}/bin" /opt/nvidia/nsight-compute/*; do
  PATH=$PATH:$folder
done
mkdir -p "$out/variants" "$out/json" "$out/log"
zoo=$root/tests/zoo/profile

says() { sed -n "s|^// zoo: $2 ||p" "$1" | head -1; }
family_of() { sed -n 's|^// apo:variant *\([^/]*\)/.*|\1|p' "$1"; }
now() { date +%s%N; }
since() { awk "BEGIN { printf \"%.2f\", ($(now) - $1) / 1e9 }"; }
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Where a user's own variants lie: beside the journal.
for file in "$zoo"/*.cu; do
  mkdir -p "$out/variants/$(family_of "$file")"
  cp "$file" "$out/variants/$(family_of "$file")/"
done

profile_variant() {
  local file=$1
  shift
  "$bundle/apo" profile "$(family_of "$file")/$(basename "$file" .cu)" --quiet --json --families "$families" \
    --workload "$(workload_of "$file")" "$@"
}

# The workload that the file names, or the family's first one, which is not repeated here.
workload_of() {
  local named
  named=$(says "$1" workload)
  [ -n "$named" ] && echo "$named" && return
  case $(family_of "$1") in
  zoo_row_sum | zoo_softmax) echo r32k ;;
  zoo_transpose) echo n4096 ;;
  zoo_matmul) echo n2048 ;;
  *) echo n16m ;;
  esac
}

# Compiling takes most of the time otherwise: all kernels once, side by side. A build does not depend on the sizes.
build_all() {
  local begin
  begin=$(now)
  for file in "$zoo"/*.cu; do
    echo "$file:$(workload_of "$file")"
  done | xargs -P "$(nproc)" -n 1 "$bundle/variant_launcher" "$families" "$out/cache/builds" >"$out/log/build" 2>&1 ||
    cat "$out/log/build" >&2
  echo "built and launched $(ls "$zoo"/*.cu | wc -l) kernels in $(since "$begin") s"
}

# field FILE NAME [NUMBER]: of the NUMBER-th bottleneck (from 1) of an indented document.
field() {
  awk -v name="\"$2\":" -v wanted="${3:-1}" '
    /^  "bottlenecks": \[/ { inside = 1 }
    inside && /^    \{/ { number++ }
    inside && /^  \]/ { exit }
    inside && number == wanted && $1 == name { sub(/^[^:]*: */, ""); sub(/,$/, ""); gsub(/^"|"$/, ""); print; exit }' "$1"
}
metric() { awk -v name="\"$2\"," '$1 == "\"name\":" { found = $2 == name } found && $1 == "\"value\":" { sub(/,$/, "", $2); print $2; exit }' "$1"; }
number() { awk -v value="$1" -v format="$2" -v scale="${3:-1}" 'BEGIN { if (value != "" && value != "null") printf format, value * scale }'; }

profile_job() {
  local file name expected first kind line planted verdict seconds begin json right=0 all=0 lines=0 planted_lines=0
  : >"$out/pairs"
  {
    echo "| kernel | planted | first diagnosis | right | planted line | its line | second | time, us | DRAM, MB | over compulsory | seconds |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
  } >"$out/kernels.md"
  for file in "$zoo"/*.cu; do
    name=$(basename "$file" .cu)
    json=$out/json/$name.json
    begin=$(now)
    profile_variant "$file" >"$json" 2>"$out/log/$name"
    seconds=$(since "$begin")
    expected=$(says "$file" expect)
    first=$(field "$json" name)
    kind=$(field "$json" kind)
    line=$(field "$json" line)
    planted=$(grep -n '// planted$' "$file" | cut -d: -f1 | head -1)
    [ -n "$first" ] || first="no diagnosis: $(head -1 "$out/log/$name")"
    shown=$first
    [ "$expected" != none ] || [ "$kind" = cause ] || first=none
    verdict=NO
    [ "$first" != "$expected" ] || { verdict=yes; right=$((right + 1)); }
    all=$((all + 1))
    if [ -n "$planted" ]; then
      planted_lines=$((planted_lines + 1))
      [ "$line" != "$planted" ] || lines=$((lines + 1))
    fi
    echo "$expected,$first" >>"$out/pairs"
    echo "| $name | $expected | $shown | $verdict | $planted | $line | $(field "$json" name 2) | $(number "$(metric "$json" time)" %.1f 1e-3) | $(number "$(metric "$json" bytes_moved)" %.1f 1e-6) | $(number "$(metric "$json" bytes_over_compulsory)" %.2f) | $seconds |" |
      tr -d '\r' >>"$out/kernels.md"
  done
  {
    echo "# What \`apo profile\` says of $all kernels"
    echo
    echo "First diagnosis as planted: $right of $all. Line as planted, where one is: $lines of $planted_lines."
    echo
    matrix
    echo
    cat "$out/kernels.md"
  } | tee "$out/profile.md"
  [ "$right" = "$all" ]
}

# Rows: planted; columns: the first diagnosis.
matrix() {
  awk -F, '{ n[$1 "," $2]++; rows[$1]; columns[$2] }
    END {
      count = 0
      for (c in columns) names[++count] = c
      for (i = 2; i <= count; i++) for (j = i; j > 1 && names[j] < names[j - 1]; j--) { t = names[j]; names[j] = names[j - 1]; names[j - 1] = t }
      line = "| planted \\ said |"; rule = "|---|"
      for (i = 1; i <= count; i++) { line = line " " names[i] " |"; rule = rule "---|" }
      print line; print rule
      total = 0
      for (r in rows) order[++total] = r
      for (i = 2; i <= total; i++) for (j = i; j > 1 && order[j] < order[j - 1]; j--) { t = order[j]; order[j] = order[j - 1]; order[j - 1] = t }
      for (i = 1; i <= total; i++) {
        line = "| " order[i] " |"
        for (j = 1; j <= count; j++) line = line " " n[order[i] "," names[j]] " |"
        print line
      }
    }' "$out/pairs"
}

# One launch of each variant in one process; of several launches the first that is not a preparation.
ncu_job() {
  local begin
  command -v ncu >/dev/null || { echo "ncu: not installed here"; return 0; }
  begin=$(now)
  local launches=()
  for file in "$zoo"/*.cu; do
    launches+=("$file:$(workload_of "$file")")
  done
  ncu --set "${NCU_SET:-full}" --csv --page details --print-details all -k 'regex:^(kernel|first|slice_0)$' --target-processes all \
    "$bundle/variant_launcher" "$families" "$out/cache/builds" "${launches[@]}" >"$out/ncu.csv" 2>"$out/log/ncu"
  {
    echo "# What the rules of Nsight Compute say"
    echo
    echo "\`ncu --set ${NCU_SET:-full}\`, all kernels in one process: $(since "$begin") s. First: the largest estimated speed-up of the whole kernel, where there is none that of a part."
    echo
    echo "| kernel | planted | first rule | estimated, % | what it says |"
    echo "|---|---|---|---|---|"
    ncu_rows "${launches[@]}"
  } | tee "$out/ncu.md"
}

ncu_rows() {
  local id=0 launch file
  for launch in "$@"; do
    file=${launch%:*}
    awk -v id="$id" -v kernel="$(basename "$file" .cu)" -v planted="$(says "$file" expect)" '
      /^"ID","/ {
        count = split($0, names, "\",\"")
        for (i = 1; i <= count; i++) { gsub(/"/, "", names[i]); column[names[i]] = i }
        next
      }
      /^"[0-9]+","/ {
        split($0, v, "\",\""); gsub(/^"/, "", v[1])
        if (v[1] != id || v[column["Rule Name"]] == "") next
        type = v[column["Rule Type"]]
        if (type != "OPT" && type != "WRN") next
        gain = v[column["Estimated Speedup"]]; gsub(/"/, "", gain)
        # An estimate of the whole kernel counts for more than one of its part ("local").
        whole = v[column["Estimated Speedup Type"]] == "global"
        if (first == "" || whole > best_whole || (whole == best_whole && gain + 0 > best)) { first = v[column["Rule Name"]]; best = gain + 0; best_whole = whole; text = v[column["Rule Description"]] }
      }
      END { gsub(/[|"]/, " ", text); printf "| %s | %s | %s | %s | %s |\n", kernel, planted, first == "" ? "none" : first, best, substr(text, 1, 160) }' "$out/ncu.csv"
    id=$((id + 1))
  done
}

counters=dram__bytes_read.sum,dram__bytes_write.sum,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum,lts__t_sector_hit_rate.pct,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,sm__sass_inst_executed_op_global_ld.sum,gpu__time_duration.sum

speed_job() {
  local name file begin mine theirs
  command -v ncu >/dev/null || echo "ncu: not installed here"
  {
    echo "# Whole processes, eleven counters, median of 3"
    echo
    echo "| kernel | apo profile --metrics, s | ncu --metrics, s |"
    echo "|---|---|---|"
    for name in clean_copy conflict_32 clean_matmul; do
      file=$zoo/$name.cu
      mine=$(for _ in 1 2 3; do
        begin=$(now)
        profile_variant "$file" --metrics "$counters" --no-journal >/dev/null 2>>"$out/log/speed"
        since "$begin" && echo
      done | median)
      theirs=$(for _ in 1 2 3; do
        begin=$(now)
        command -v ncu >/dev/null && ncu --metrics "$counters" -k kernel "$bundle/variant_launcher" "$families" \
          "$out/cache/builds" "$file:$(workload_of "$file")" >"$out/log/ncu_speed" 2>&1
        since "$begin" && echo
      done | median)
      echo "| $name | $mine | $theirs |"
    done
  } | tee "$out/speed.md"
}

tracing_job() {
  local plain traced
  launch_ns() { sed -n 's/^launch_ns //p' "$out/cost"; }
  plain=$(for _ in 1 2 3; do "$bundle/launcher_program" cost "$out/cost" && launch_ns; done | median)
  traced=$(for _ in 1 2 3; do
    "$bundle/apo" profile --quiet --json --output "$out/json/tracing.json" -- "$bundle/launcher_program" cost "$out/cost" \
      >/dev/null 2>>"$out/log/tracing" && launch_ns
  done | median)
  {
    echo "# Host time of a launch, median of 3"
    echo
    echo "| plain, ns | under \`apo profile -- COMMAND\`, ns | difference, ns |"
    echo "|---|---|---|"
    echo "| $plain | $traced | $(awk "BEGIN { print $traced - $plain }") |"
  } | tee "$out/tracing.md"
}

begin=$(now)
status=0
"$bundle/variant_launcher" "$families" "$out/cache/builds" "$zoo/clean_copy.cu:n4k" >/dev/null || exit 2
build_all
for job in "${jobs[@]}"; do
  case $job in
  profile | ncu | speed | tracing) "${job}_job" || status=3 ;;
  *) echo "unknown job $job; $usage" >&2 && exit 1 ;;
  esac
done
echo "all of it took $(since "$begin") s"
exit "$status"

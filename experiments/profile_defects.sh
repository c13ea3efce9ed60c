#!/usr/bin/env bash
# experiments/profile_defects.sh BUNDLE OUT [JOB...] - does `apo profile` see what is wrong with a kernel, and how fast?
#
# BUNDLE is from bundle.sh, of a build with the tests. Jobs, all of them where none is named:
#   profile   every kernel of tests/zoo/profile: its first diagnosis and line against the planted ones, OUT/profile.md
#   ncu       what the rules of Nsight Compute say first on the same launches, OUT/ncu.md
#   speed     whole processes against each other: the same counters of the same kernels by our code and by ncu, OUT/speed.md
#             (NCU_CONTROL: other options for ncu than --cache-control none --clock-control none; empty: as it comes)
#   tracing   host time of a launch with and without `apo profile -- COMMAND`, OUT/tracing.md
# Fails when a diagnosis is not the planted one. A clean kernel is right when the first diagnosis is no cause.
set -u
. "$(dirname "$(readlink -f "$0")")/places.sh"
shift 2
jobs=("$@")
[ ${#jobs[@]} -gt 0 ] || jobs=(profile ncu speed tracing)
# NVRTC finds its built-in functions beside itself, or here.
export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:${CUDA_HOME:-/usr/local/cuda}/lib64
for file in apo variant_launcher launcher_program; do
  [ -e "$bundle/$file" ] || { echo "$bundle has no $file: build with the tests, then run experiments/bundle.sh" >&2; exit 1; }
done
# Where NVIDIA's packages put ncu.
for folder in "${CUDA_HOME:-/usr/local/cuda}/bin" /opt/nvidia/nsight-compute/*; do
  PATH=$PATH:$folder
done
mkdir -p "$out/variants" "$out/json" "$out/log"
zoo=$root/tests/zoo/profile
families=()
for file in "$zoo"/families/*.h; do
  families+=(--families "$file")
done

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
  "$bundle/apo" profile "$(family_of "$file")/$(basename "$file" .cu)" --quiet --json "${families[@]}" \
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
  for file in "$zoo"/*.cu "$root"/tests/zoo/speed/*.cu; do
    echo "$file:$(workload_of "$file")"
  done | xargs -P "$(nproc)" -n 1 "$bundle/variant_launcher" "$out/cache/builds" >"$out/log/build" 2>&1 ||
    cat "$out/log/build" >&2
  echo "built and launched $(ls "$zoo"/*.cu "$root"/tests/zoo/speed/*.cu | wc -l) kernels in $(since "$begin") s"
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
    "$bundle/variant_launcher" "$out/cache/builds" "${launches[@]}" >"$out/ncu.csv" 2>"$out/log/ncu"
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

# Which GPU, driver and versions a table is about.
environment() {
  echo "$("$bundle/variant_launcher" --about); $(uname -sr); $("$bundle/apo" --version | head -1)"
  command -v ncu >/dev/null && ncu --version | grep -i '^version' || echo "ncu: not installed here"
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (a + 0 > 0 && b + 0 > 0) printf "%.1fx", a / b }'; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { if (a != "" && b != "") printf "%.2f", a - b }'; }

# One process that launches these variants once each: alone, counting with our code, or under ncu. Seconds of the whole
# process; all three build, fill and launch the same. ncu neither locks clocks, which would cost it time that we do not
# spend, nor flushes caches, as we do, unless NCU_CONTROL says otherwise.
read -ra ncu_control <<<"${NCU_CONTROL---cache-control none --clock-control none}"
launched() {
  local how=$1 list=$2 begin seconds names
  shift 2
  names=$("$bundle/variant_launcher" --list "$list")
  begin=$(now)
  case $how in
  plain) "$bundle/variant_launcher" "$out/cache/builds" "$@" ;;
  ours) APO_LAUNCHER_COUNT=$list "$bundle/variant_launcher" "$out/cache/builds" "$@" ;;
  ncu) ncu --metrics "$names" "${ncu_control[@]}" \
    -k 'regex:^(kernel|clear|first|second|third|slice_[0-9]+|plain|strided|staged|shuffled|added)$' "$bundle/variant_launcher" "$out/cache/builds" "$@" ;;
  esac >"$out/log/speed_$how" 2>&1 || return 1
  seconds=$(since "$begin")
  # A process that counted nothing would be a fast one.
  [ "$how" != ncu ] || grep -q 'gpu__time_duration' "$out/log/speed_ncu" || return 1
  echo "$seconds"
}

# TIMES WHAT LIST FILE:WORKLOAD... - a row: the medians, taken in turns.
speed_row() {
  local times=$1 what=$2 list=$3 how plain ours theirs counted
  shift 3
  rm -f "$out"/speed_*.seconds
  for _ in $(seq "$times"); do
    for how in plain ours ncu; do
      [ "$how" != ncu ] || command -v ncu >/dev/null || continue
      launched "$how" "$list" "$@" >>"$out/speed_$how.seconds" || echo "speed: $how failed for $what, see $out/log/speed_$how" >&2
    done
  done
  plain=$(median <"$out/speed_plain.seconds")
  ours=$(median <"$out/speed_ours.seconds")
  theirs=$([ -e "$out/speed_ncu.seconds" ] && median <"$out/speed_ncu.seconds")
  counted=$(sed -n 's/^counted in //p' "$out/log/speed_ours")
  { echo "$what, $list list"; grep '^steps: ' "$out/log/speed_ours"; echo; } >>"$out/speed_steps"
  echo "| $what | $("$bundle/variant_launcher" --list "$list" | tr ',' '\n' | wc -l) | $plain | $ours | $theirs | $(ratio "$theirs" "$ours") | $(less "$ours" "$plain") | $(less "$theirs" "$plain") | $(ratio "$(less "$theirs" "$plain")" "$(less "$ours" "$plain")") | $counted |"
}

of_zoo() {
  local name
  for name in "$@"; do
    echo "$zoo/$name.cu:$(workload_of "$zoo/$name.cu")"
  done
}

speed_job() {
  local five many kernels all begin
  rm -f "$out/speed_steps"
  mapfile -t five < <(of_zoo clean_copy conflict_32 clean_matmul many_barriers clean_softmax)
  mapfile -t many < <(of_zoo many_launches)
  kernels=$root/tests/zoo/speed/five_kernels.cu
  mapfile -t all < <(for file in "$zoo"/*.cu; do echo "$file:$(workload_of "$file")"; done)
  {
    echo "# Counting against Nsight Compute, whole processes"
    echo
    environment
    echo
    echo "Each process launches the same variants once each: without a profiler, counting with our code, under \`ncu ${ncu_control[*]}\`. Medians of 3; once: many_launches with the long list, and all kernels. many_launches is one call of 32 launches; \`five\` are five variants one after the other, each counted in a session of its own. Profiling alone is less the process without one; the last column is what our process itself spent counting, in all and for each variant."
    echo
    echo "| kernels | metrics | no profiler, s | ours, s | ncu, s | ncu / ours | ours alone, s | ncu alone, s | ncu / ours | counting |"
    echo "|---|---|---|---|---|---|---|---|---|---|"
    speed_row 3 "clean_copy" short "${five[0]}"
    speed_row 3 "clean_copy" default "${five[0]}"
    speed_row 3 "five kernels of one call" short "$kernels:$(workload_of "$kernels")"
    speed_row 3 "five kernels of one call" long "$kernels:$(workload_of "$kernels")"
    speed_row 3 "many_launches" short "${many[0]}"
    speed_row 1 "many_launches" long "${many[0]}"
    speed_row 3 "five" short "${five[@]}"
    speed_row 3 "five" long "${five[@]}"
    speed_row 1 "all ${#all[@]}" short "${all[@]}"
    echo
    echo "Where the time of the last process of each row went, variant by variant:"
    echo
    sed 's/^/    /' "$out/speed_steps"
    echo "\`apo profile\` of clean_copy as a user runs it, with times, PC samples and lines, three times after its roofs are known:"
    profile_variant "$zoo/clean_copy.cu" >/dev/null 2>>"$out/log/speed"
    for _ in 1 2 3; do
      begin=$(now)
      profile_variant "$zoo/clean_copy.cu" --no-journal >/dev/null 2>>"$out/log/speed" || echo "failed, see $out/log/speed"
      echo "$(since "$begin") s"
    done
  } | tee "$out/speed.md"
}

# Host time of a launch; plain and traced runs in turns, so that a change of the clock meets both.
tracing_job() {
  local mode how
  launch_ns() { sed -n 's/^launch_ns //p' "$out/cost"; }
  launcher() {
    rm -f "$out/cost"
    case $1 in
    plain) "$bundle/launcher_program" "$2" "$out/cost" >/dev/null ;;
    traced) "$bundle/apo" profile --quiet --json --output "$out/json/tracing.json" -- "$bundle/launcher_program" "$2" \
      "$out/cost" >/dev/null 2>>"$out/log/tracing" ;;
    esac && launch_ns
  }
  {
    echo "# Host time of a launch"
    echo
    environment
    echo
    echo "The best batch of 500 launches of a process, median of 5 processes each, in turns; traced: under \`apo profile -- COMMAND\`."
    echo
    echo "| launched | plain, ns | traced, ns | difference, ns |"
    echo "|---|---|---|---|"
    for mode in cost cost_in_range; do
      rm -f "$out"/tracing_*.ns
      for _ in 1 2 3 4 5; do
        for how in plain traced; do
          launcher "$how" "$mode" >>"$out/tracing_$how.ns" || echo "tracing: $how $mode failed, see $out/log/tracing" >&2
        done
      done
      plain=$(median <"$out/tracing_plain.ns")
      traced=$(median <"$out/tracing_traced.ns")
      echo "| $([ "$mode" = cost ] && echo "outside NVTX ranges" || echo "in an NVTX range") | $plain | $traced | $(awk -v a="$traced" -v b="$plain" 'BEGIN { if (a != "" && b != "") print a - b }') |"
    done
  } | tee "$out/tracing.md"
}

begin=$(now)
status=0
"$bundle/variant_launcher" "$out/cache/builds" "$zoo/clean_copy.cu:n4k" >/dev/null || exit 2
build_all
for job in "${jobs[@]}"; do
  case $job in
  profile | ncu | speed | tracing) "${job}_job" || status=3 ;;
  *) echo "unknown job $job; $usage" >&2 && exit 1 ;;
  esac
done
echo "all of it took $(since "$begin") s"
exit "$status"

#!/usr/bin/env bash
# experiments/attacks.sh BUNDLE OUT [PLACE] [NAME...] - every attack of tests/zoo, and every honest look-alike, through `apo`.
#
# BUNDLE is from bundle.sh. PLACE: host (library variants on this CPU), cpu (device variants under the CPU executor) or cuda (the
# default; needs a GPU). NAMEs choose candidates. Prints a markdown table, also to OUT/attacks-PLACE.md, and fails when a candidate
# gets another verdict than its file expects, or evidence without the words that its file names. OUT has to be new or empty.
#
# What a file says of itself: tests/zoo/README.md.
set -u

variant_of() { sed -n 's|^// apo:variant *||p' "$1" | head -1; }

set_up() {
  . "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/places.sh"
  place=${3:-cuda}
  chosen=" ${*:4} "
  if [ -e "$out/journal.db" ]; then
    echo "$out holds the variants of an earlier run: name another folder" >&2
    exit 1
  fi
  # Comparisons look incumbents up; roofs give them a floor.
  local file
  for file in "$root"/tests/zoo/attacks/*; do
    [ "$place" = cpu ] || ! in_place "$file" || [ "$(says "$file" how)" = register ] && continue
    "$bundle/apo" register --no-verify "$file" >"$out/stdout" 2>"$out/stderr" || cat "$out/stderr" >&2
  done
  [ "$place" = cuda ] && "$bundle/apo" profile copy/cuda_simple --roofs --quiet >"$out/roofs" 2>&1
  [ "$place" = host ] && "$bundle/apo" profile copy/simple --roofs --quiet >"$out/roofs" 2>&1
}

# Whether a candidate runs at this place.
in_place() {
  case "$place $1" in
  host\ *.cpp | cuda\ */attacks/*.cu | cuda\ */cuda/*.cu) return 0 ;;
  cpu\ */executor/*.cu) return 0 ;;
  cpu\ */attacks/*library*) return 1 ;;
  cpu\ */attacks/*.cu) [ "$(says "$1" cpu)" != no ] && { [ -n "$(says "$1" cpu)" ] || ! [[ $(says "$1" how) =~ compare ]]; } ;;
  *) return 1 ;;
  esac
}

candidates() {
  local file
  for file in "$root"/tests/zoo/attacks/* "$root"/tests/zoo/host/*.cpp "$root"/tests/zoo/cuda/*.cu "$root"/tests/zoo/executor/*.cu; do
    in_place "$file" || continue
    [ -n "${chosen// /}" ] && [[ $chosen != *" $(basename "${file%.*}") "* ]] && continue
    echo "$file"
  done
}

expected_of() {
  local own=
  [ "$place" = cpu ] && own=$(says "$1" cpu)
  echo "${own:-$(says "$1" expect)}"
}

# A campaign that knows the incumbent and this candidate alone: one iteration, then a certification with solo runs.
campaign() {
  local file=$1 cache=$2 workload=$3 against home entry
  shift 3
  against=$(says "$file" against)
  home=$out/campaign-$(basename "${file%.*}")
  rm -rf "$home"
  mkdir -p "$home/variants/copy"
  for entry in "$root"/*; do
    [[ " variants reports " == *" $(basename "$entry") "* ]] || ln -s "$entry" "$home/"  # its report stays in OUT
  done
  cp "$file" "$(dirname "$file")/${against#*/}.${file##*.}" "$root"/tests/zoo/attacks/*.{h,cuh} "$home/variants/copy/"
  APO_HOME=$home APO_JOURNAL=$home/journal.db "$bundle/apo" run copy --baseline "$against" --workload "$workload" --cache "$cache" \
    --judge standard --iterations 1 --candidates 1 --solo-run 2s "$@"
}

# judge FILE OPTION...: sets outcome, evidence and, where there is a claim, its ratio.
judge() {
  local file=$1 how variant last
  shift
  how=$(says "$file" how)
  variant=$(variant_of "$file")
  [[ $file == */attacks/* ]] && how=${how:-verify}
  set -- "$@" --quiet
  case "$place ${how:-register}" in
  cpu\ *)
    # Not registered, so that a block that is wrong on purpose is met by `verify`. One at a time: names repeat.
    rm -rf "$out/variants/copy"
    mkdir -p "$out/variants/copy"
    cp "$file" "$root"/tests/zoo/attacks/*.{h,cuh} "$out/variants/copy/"
    how=verify
    "$bundle/apo" verify "$variant" --on cpu "$@" >"$out/stdout" 2>"$out/stderr"
    ;;
  *\ register)
    [[ $file == */zoo/cuda/* ]] && set -- --no-executor "$@"  # what they try is met on the GPU
    "$bundle/apo" register "$file" "$@" >"$out/stdout" 2>"$out/stderr"
    ;;
  *\ verify) "$bundle/apo" verify "$variant" "$@" >"$out/stdout" 2>"$out/stderr" ;;
  *\ compare*)
    read -r _ cache workload <<<"$how"
    "$bundle/apo" compare "$(says "$file" against)" "$variant" --cache "$cache" --workload "$workload" --judge standard "$@" \
      >"$out/stdout" 2>"$out/stderr"
    ;;
  *\ campaign*)
    read -r _ cache workload <<<"$how"
    campaign "$file" "$cache" "$workload" "$@" >"$out/stdout" 2>"$out/stderr"
    ;;
  esac
  code=$?
  claim=
  # A comparison that ends without a decision has exit code 2, and says why on stdout.
  if [ "$code" != 0 ] && [ "$code" != 3 ] && ! grep -q '^verdict: ' "$out/stdout"; then
    outcome="exit code $code"
    evidence=$(grep -v 'guards switched off' "$out/stderr" | head -1)
  elif [[ $how == compare* ]]; then
    evidence=$(sed -n 2p "$out/stdout")
    last=$(sed -n -E 's/^(Not timed: |The [a-z]+ failed while it was timed: )([a-z_]+)[ ,].*/\2/p' <<<"$evidence")
    outcome=${last:-$(sed -n -E 's/^verdict: [a-z]+ \(([a-z_]+)\).*/\1/p' "$out/stdout")}
    claim=$(sed -n -E 's/^([0-9.]+)x faster, .*/\1/p' <<<"$evidence")
  elif [[ $how == campaign* ]]; then
    evidence=$(grep '^certified, ' "$out/stdout")
    claim=$(sed -n -E 's/^certified, [a-z]+ cache: ([0-9.]+)x.*/\1/p' <<<"$evidence" | sort -g | tail -1)
    outcome=$([ -n "$claim" ] && echo faster || echo not_certified)
  else
    last=$(grep -E '^[a-z]+: [a-z_]+, ' "$out/stdout" | tail -1)
    outcome=$(sed -E 's/^[a-z]+: ([a-z_]+), .*/\1/' <<<"$last")
    evidence=$(sed -E 's/^([a-z]+): [a-z_]+, (.*) \([^()]*\)$/\1: \2/' <<<"$last")
  fi
}

# Accepted, or valid where nothing is timed.
got_through() { [ "$outcome" = faster ] || [ "$outcome" = valid ]; }

has_words() {
  local words
  IFS=,
  for words in $2; do
    case $1 in *"$(sed 's/^ *//' <<<"$words")"*) ;; *) unset IFS && return 1 ;; esac
  done
  unset IFS
}

as_expected() {
  local file=$1 expected words=
  expected=$(expected_of "$file")
  # The words of the other folders are those of one call without `apo` around it, or of another place.
  [[ $file == */attacks/* || $file == */zoo/cuda/* ]] && [ "$place" != cpu ] && words=$(says "$file" evidence)
  if [ "$expected" = not_accepted ]; then
    [ "$outcome" != faster ] && [[ $outcome != exit* ]] && has_words "$evidence" "$words"
    return
  fi
  if [[ $expected == claim_at_most* ]]; then
    [[ $outcome != exit* ]] && awk "BEGIN { exit !(${claim:-1} <= $(tr -dc 0-9. <<<"$expected")) }"
    return
  fi
  [ "$outcome" = "$expected" ] && has_words "$evidence" "$words"
}

# What cannot be tried here is said, and is no failure.
not_tried() {
  case "$(says "$1" needs) $evidence" in
  nvcc*"needs nvcc"*) return 0 ;;
  esac
  [[ $evidence == *"compute-sanitizer is not installed"* && $(says "$1" guard) == sanitizers ]] ||
    { [ "$(says "$1" needs)" = x86_64 ] && [ "$(uname -m)" != x86_64 ]; }
}

cell() { tr '|\n' '/ ' <<<"$1" | cut -c 1-220; }

attacks_table() {
  local file start
  echo "| candidate | expected | guard | outcome | as expected | evidence | seconds |"
  echo "|---|---|---|---|---|---|---|"
  while read -r file; do
    start=$(date +%s%N)
    judge "$file" </dev/null
    verdict=NO
    as_expected "$file" && verdict=yes
    not_tried "$file" && verdict="not tried"
    printf '| %s | %s | %s | %s | %s | %s| %s |\n' "$(basename "${file%.*}")" "$(expected_of "$file")" "$(says "$file" guard)" \
      "$outcome" "$verdict" "$(cell "$evidence")" "$(awk "BEGIN { printf \"%.1f\", $(($(date +%s%N) - start)) / 1e9 }")"
  done < <(candidates)
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set_up "$@"
  attacks_table | tee "$out/attacks-$place.md"
  ! grep -q '| NO |' "$out/attacks-$place.md"
fi

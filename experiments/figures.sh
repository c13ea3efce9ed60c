#!/usr/bin/env bash
# experiments/figures.sh [FOLDER] - prints the figures of the house of a checkout: rooms, lengths, copies, cycles, lines.
# A unit is a header with its source. A function is measured from its first to its last line, as clang-format lays it out.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

rooms="harness journal reports kernels"
sources() { # FOLDER...
  find "$@" -name build -prune -o -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print | sort
}
# shellcheck disable=SC2086
ours() { sources $rooms; }
lines_of() { sources "$1" | xargs -r cat | wc -l; }
heading() { printf '\n%s\n' "$1"; }

# "LENGTH FILE:LINE NAME" for every function in the files that stdin names.
functions() {
  xargs awk '
    function indent_of(text) { match(text, /^ */); return RLENGTH }
    function name_of(text) { sub(/\(.*/, "", text); sub(/^.*[ *&]/, "", text); return text }
    FNR == 1 { open[0] = open[2] = start[0] = start[2] = 0; level = -1 }
    /^ *(\/\/|#|$)/ { next }
    {
      k = indent_of($0)
      inside = open[0] || open[2]
      if (!inside && (k == 0 || k == 2)) {
        if ($0 ~ /^ *[A-Za-z_~]/ && $0 !~ /^ *(public|private|protected):/) { level = k; start[k] = FNR; text[k] = "" }
      }
      if (!inside && level >= 0) {
        text[level] = text[level] $0
        head = text[level]
        is_function = index(head, "(") && head !~ /^ *(namespace|class|struct|enum|union|extern|using|typedef|TEST)/
        if (is_function && $0 ~ /\{.*\}$/) { print 1, FILENAME ":" start[level], name_of(head); level = -1 }
        else if ($0 ~ /\{$/) { if (is_function) open[level] = 1; else level = -1 }
        else if ($0 ~ /[;}]$/) level = -1
      } else if (inside) {
        k = open[0] ? 0 : 2
        if ($0 ~ (k ? "^  }$" : "^}$")) {
          print FNR - start[k] + 1, FILENAME ":" start[k], name_of(text[k]); open[k] = 0; level = -1
        } else if ($0 ~ (k ? "^  };$" : "^};$")) { open[k] = 0; level = -1 }
      }
    }'
}

# "UNIT OTHER" for every include of one of our units by another.
include_edges() {
  xargs awk '
    function unit(path) { sub(/\.[a-z]+$/, "", path); return path }
    /^#include "/ {
      split($0, part, "\""); from = unit(FILENAME); to = unit(part[2])
      if (from != to) print from, to
    }' | sort -u
}

# The groups of units that include one another, one a line: what is left after all that no cycle passes through is cut.
cycles() {
  awk '
    { edge[$1, $2] = 1; node[$1]; node[$2]; from[NR] = $1; to[NR] = $2 }
    END {
      do {
        split("", ins); split("", outs)
        for (i = 1; i <= NR; ++i) if (from[i] in node && to[i] in node) { ++outs[from[i]]; ++ins[to[i]] }
        cut = 0
        for (n in node) if (!ins[n] || !outs[n]) { delete node[n]; cut = 1 }
      } while (cut)
      for (a in node) for (b in node) reach[a, b] = (a SUBSEP b) in edge
      for (m in node) for (a in node) if (reach[a, m]) for (b in node) if (reach[m, b]) reach[a, b] = 1
      for (a in node) {
        if (a in seen) continue
        group = ""
        for (b in node) if (reach[a, b] && reach[b, a]) { seen[b]; group = group " " b }
        if (group != "") print "  " group
      }
    }'
}

# Lines of a family that stand in another variant of it as well; short ones and metadata do not count.
copies() {
  awk '
    function key(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
    FNR == 1 { n = split(FILENAME, part, "/"); family = part[n - 1] }
    !/^ *\/\/ apo:/ {
      line = key($0)
      if (length(line) < 8) next
      ++all[family]
      where = last[family, line]
      if (where == "") { last[family, line] = FILENAME; count[family, line] = 1 }
      else { ++count[family, line]; if (where != FILENAME) shared[family, line] = 1 }
    }
    END {
      for (k in shared) { split(k, part, SUBSEP); copied[part[1]] += count[k] }
      for (f in all) printf "  %-14s %6d lines, %3d %% also in another file of the family\n", f, all[f], 100 * copied[f] / all[f]
    }' "$@" | sort
}

heading "Folders with the most files (files, units):"
ours | awk '{ folder = $0; sub(/\/[^\/]*$/, "", folder); ++files[folder]; unit = $0; sub(/\.[a-z]+$/, "", unit)
              if (!(unit in seen)) { seen[unit]; ++units[folder] } }
            END { for (f in files) { printf "  %4d %4d  %s\n", files[f], units[f], f } }' | sort -rn | head -8 || true

heading "Longest files (lines):"
ours | xargs wc -l | grep -v ' total$' | sort -rn | head -5 || true

heading "Functions:"
found=$(ours | functions | sort -rn)
awk '{ length_of[NR] = $1; if ($1 > 40) ++long_ones }
     END { printf "  %d functions, median %d lines, %d over 40 lines (%.1f %%)\n", NR, length_of[int((NR + 1) / 2)],
                  long_ones, 100 * long_ones / NR }' <<<"$found"
head -5 <<<"$found" | sed 's/^/  /'

heading "Classes of more than 150 lines:"
ours | xargs awk 'FNR == 1 { start = 0 }
  /^(class|struct) [A-Za-z_]+.*\{$/ { start = FNR; name = $2 }
  /^};$/ && start { if (FNR - start >= 150) printf "  %4d  %s %s\n", FNR - start + 1, FILENAME, name; start = 0 }' | sort -rn

heading "Include cycles between units:"
# shellcheck disable=SC2086
found=$(sources $rooms | include_edges | cycles)
echo "  $(grep -c . <<<"$found" || true)"
[ -z "$found" ] || sort <<<"$found"

heading "Variants:"
sources variants | xargs bash -c "$(declare -f copies); copies \"\$@\"" copies

heading "Lines:"
total=0
for folder in $rooms variants tests; do
  lines=$(lines_of "$folder")
  total=$((total + lines))
  printf '  %-9s %7d\n' "$folder" "$lines"
done
printf '  %-9s %7d\n' all "$total"
printf '\nREADME: %d words, %d lines longer than 100 columns\n' "$(wc -w <README.md)" "$(LC_ALL=C.UTF-8 grep -cE '^.{101}' README.md)"

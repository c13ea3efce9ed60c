#!/usr/bin/env bash
# experiments/ablation.sh BUNDLE OUT [PLACE] [NAME...] - what each guard is good for: every attack with its guard switched off.
#
# Arguments as for attacks.sh. An attack that one guard catches is caught by it whatever else is switched off, so that each attack
# is run with that one off, and again with all those off that have caught it so far, until it gets through or a guard that cannot be
# off stops it. Prints the table, also to OUT/ablation-PLACE.md. A program with a guard off writes to no journal (docs/guards.md).
# Several at once need a bundle each: what an attack leaves behind is found by the program that it runs, and ended.
set -u
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/attacks.sh"

# The guard whose evidence this is.
guard_of() {
  case "$outcome $evidence" in
  *"inputs made right before them save"* | *"call on inputs made right before"*) echo fresh-inputs ;;
  *"bound symbols"* | *"made code of its own"* | *"after it was loaded"* | *"wrote to the code"* | *"in the place of"*) echo code ;;
  *"a library that it does not name"* | *"than was built"* | *"is not what was built"*) echo code ;;
  *"below the physical floor"*) echo floor ;;
  *"the same call again"*) echo repeat ;;
  *"wrote outside its buffers"*) echo guard-zones ;;
  *"changed its input"*) echo inputs ;;
  *"forged reply"*) echo reply ;;
  *"forbidden system call"*) echo seccomp ;;
  *"machine code identical"*) echo same-code ;;
  executor:* | *" executor: "*) echo executor ;;
  *sanitizers:*) echo sanitizers ;;
  *"timed call"*) echo timed-check ;;
  incorrect*) echo reference ;;
  *) echo "$outcome" ;;
  esac
}

# Without seccomp an attack may leave processes behind; they still run this bundle's program.
end_left_behind() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/exe" 2>/dev/null)" = "$bundle/apo" ] && kill -KILL "${process#/proc/}"
  done
}

ablation_table() {
  local file guard off path options
  echo "| attack | switched off, one after the other: what became of it | gets through |"
  echo "|---|---|---|"
  while read -r file; do
    guard=$(says "$file" guard)
    [ -n "$guard" ] || continue
    options=()
    [[ $(says "$file" how) == compare* ]] && options=(--no-journal)
    off=
    path=
    outcome=
    for _ in 1 2 3 4; do
      case " process deadline memory-limit build judge $off " in *" $guard "*) break ;; esac
      tr '\n' ' ' <"$root/harness/core/guards.cpp" | grep -q "Guard::[a-z0-9_]*, \"$guard\"[^}]*true}" || break
      off="$off $guard"
      options+=(--ablate "$guard")
      judge "$file" "${options[@]}" </dev/null
      end_left_behind 2>/dev/null
      got_through && path="$path without $guard: **$outcome**;" && break
      path="$path without $guard: $outcome ($(guard_of));"
      guard=$(guard_of)
    done
    printf '| %s |%s | %s |\n' "$(basename "${file%.*}")" "$(cell "${path:- not switched off: $guard}")" "$(got_through && echo yes || echo no)"
  done < <(candidates)
}

set_up "$@"
ablation_table | tee "$out/ablation-$place.md"

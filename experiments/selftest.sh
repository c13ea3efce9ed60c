#!/usr/bin/env bash
# experiments/selftest.sh FOLDER - what the judge makes of identical code on this machine's CPU; writes FOLDER/selftest.md.
#
# COMPARISONS (3000) of identical code over the bundled kernels, in rounds as short as the kernels allow; then known
# differences for SECONDS_EACH (900). JUDGES (1) run side by side, each on its share of the CPUs and with
# a journal of its own, FOLDER/selftest-N.db: what was interrupted goes on from there. On two cores and with one judge about
# three hours. LIMIT: after so many seconds nothing new is begun. KERNELS: VARIANT@WORKLOAD words instead of the bundled ones.
# DIFFERENCES: such as 0.5,1 percent, instead of all known ones.
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
folder=$(readlink -f "${1:?usage: experiments/selftest.sh FOLDER}")
mkdir -p "$folder"
judges=${JUDGES:-1}
deadline=$(($(date +%s) + ${LIMIT:-1000000}))
apo() { "${APO:-$root/apo}" "$@"; }
kernels=()
for kernel in ${KERNELS:-}; do kernels+=(--kernels "$kernel"); done

count() {
  apo query -q --csv --sql "SELECT coalesce(sum(comparisons), 0) FROM selftest_totals WHERE kind = '$1'" 2>/dev/null |
    tail -n 1 | tr -d '\r'
}
# selftest SECONDS OPTION...: for as long as the limit allows; false when nothing is left of it.
selftest() {
  local left=$((deadline - $(date +%s))) seconds=$1
  shift
  [ "$left" -gt 10 ] || return 1
  apo selftest -q --target host --seconds "$((seconds < left ? seconds : left))" "${kernels[@]}" "$@" >>"$log"
}
judge() {
  local wanted=$(((${COMPARISONS:-3000} + judges - 1) / judges)) left
  export APO_JOURNAL=$folder/selftest-$1.db
  log=$folder/log-$1
  [ -e "$APO_JOURNAL" ] || selftest 10 --quick --parts noise || return 0
  while left=$((wanted - $(count aa))) && [ "$left" -gt 0 ]; do
    # In pieces, so that an interruption costs little.
    selftest 600 --round-time "${ROUND_TIME:-25ms}" --rounds "$((left * 15))" --parts identical || return 0
  done
  [ "$(count power)" -gt 0 ] || selftest "${SECONDS_EACH:-900}" --parts known --differences "${DIFFERENCES:-}" || return 0
}
# totals KIND: the sums over all judges' journals.
totals() {
  local journal
  for journal in "$folder"/selftest-*.db; do
    apo query -q --csv --journal "$journal" --sql "SELECT candidate || '|' || workload || '|' || truth || '|' ||
      random_layout || '|' || comparisons || '|' || accepted || '|' || regressions || '|' || (comparisons * mean_seconds) || '|' ||
      coalesce(accepted * mean_claim, 0) AS row FROM selftest_totals WHERE kind = '$1'"
  done | tr -d '"\r' | awk -F'|' '
    NF < 9 { next }
    {
      key = $1 "|" $2 "|" $3 "|" $4
      if (!(key in n)) order[++keys] = key
      n[key] += $5; accepted[key] += $6; slower[key] += $7; seconds[key] += $8; claims[key] += $9
      all += $5; false_accepts += $6; all_slower += $7; all_seconds += $8
    }
    END {
      print "| candidate | workload | true effect | layouts | judged | accepted | called slower | mean claim | a decision, s |"
      print "|---|---|---|---|---|---|---|---|---|"
      for (i = 1; i <= keys; ++i) {
        split(order[i], name, "|"); key = order[i]
        claim = accepted[key] > 0 ? sprintf("%.5f", claims[key] / accepted[key]) : "-"
        printf "| %s | %s | %.4f | %s | %d | %d | %d | %s | %.1f |\n", name[1], name[2], name[3],
          name[4] == 1 ? "random" : "fixed", n[key], accepted[key], slower[key], claim, seconds[key] / n[key]
      }
      if (all > 0) printf "| all | | | | %d | %d | %d | | %.1f |\n", all, false_accepts, all_slower, all_seconds / all
    }'
}
[ "$judges" -le "$(nproc)" ] || { echo "JUDGES=$judges, but only $(nproc) CPUs" >&2; exit 1; }
share=$(($(nproc) / judges))
for ((i = 1; i <= judges; ++i)); do
  (
    [ "$judges" -eq 1 ] || taskset -pc "$(((i - 1) * share))-$((i * share - 1))" "$BASHPID" >/dev/null
    judge "$i"
  ) &
done
wait
{
  echo "# The judge on identical code and on known differences"
  echo
  echo "\`JUDGES=$judges experiments/selftest.sh FOLDER\` on $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(date -u +%Y-%m-%d)."
  echo "Effects are natural logarithms: 0.01 is about 1 %."
  for kind in aa power; do
    echo
    echo "## $kind"
    echo
    totals "$kind"
  done
  echo
  echo "## As the first judge printed it"
  echo
  echo '```'
  cat "$folder/log-1"
  echo '```'
} >"$folder/selftest.md"
cat "$folder/selftest.md"

#!/usr/bin/env bash
# tests/cli/scale/slurm_workers.sh APO CACHE WORK - a campaign on workers that a real Slurm places: two nodes on loopback, in WORK.
#
# Slurm and munge come from Debian's packages, unpacked below CACHE: nothing is installed. Exit code 77 with a sentence where that cannot be.
set -u
apo=$1 cache=$2 work=$3
packages="slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 munge libmunge2 libhwloc15"
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; tail -n 30 "$work"/*.log 2>/dev/null; exit 1; }

[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
[ "$(nproc)" -ge 2 ] || skip "two workers on one CPU would disturb each other"
command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "this is no Debian, whose packages these are"
if [ ! -e "$cache/root/usr/sbin/slurmctld-wlm" ]; then
  mkdir -p "$cache/packages" "$cache/root"
  # shellcheck disable=SC2086  # a list of words on purpose
  (cd "$cache/packages" && timeout 120 apt-get download -q $packages) >"$cache/download.log" 2>&1 ||
    skip "the packages of Slurm cannot be had: $(tail -n 1 "$cache/download.log")"
  for package in "$cache"/packages/*.deb; do dpkg -x "$package" "$cache/root" || skip "$package cannot be unpacked"; done
fi

root=$cache/root libraries=$cache/root/usr/lib/x86_64-linux-gnu host=$(hostname)
port=$((20000 + RANDOM % 20000))
pids=()
# Asked first: slurmctld then ends what it started.
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  for _ in $(seq 50); do kill -0 "${pids[@]}" 2>/dev/null || break; sleep 0.1; done
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
}
trap stop EXIT
slurm() { LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$work/slurm.conf "$@"; }
# No function call: $! is to be the program itself.
started() {
  LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$work/slurm.conf "$@" >>"$work/daemons.log" 2>&1 &
  pids+=($!)
}

mkdir -p "$work/munge" "$work/state" "$work/apo"
chmod 711 "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=64 count=1 2>/dev/null
chmod 400 "$work/munge/key"
cat >"$work/slurm.conf" <<EOF
ClusterName=apo
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/sock
CredType=cred/munge
PluginDir=$libraries/slurm-wlm
SlurmctldPort=$port
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=30
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=debug Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
EOF
started "$root/usr/sbin/munged" --foreground --force --key-file="$work/munge/key" --socket="$work/munge/sock" \
  --pid-file="$work/munge/pid" --log-file="$work/munge.log" --seed-file="$work/munge/seed"
for _ in $(seq 50); do [ -S "$work/munge/sock" ] && break; sleep 0.1; done
started "$root/usr/sbin/slurmctld-wlm" -D -c -f "$work/slurm.conf"
for node in n1 n2; do started "$root/usr/sbin/slurmd-wlm" -D -c -f "$work/slurm.conf" -d "$root/usr/sbin/slurmstepd-wlm" -N $node; done
for _ in $(seq 100); do [ "$(slurm "$root/usr/bin/sinfo" -h -N -t idle 2>/dev/null | wc -l)" = 2 ] && break; sleep 0.1; done
[ "$(slurm "$root/usr/bin/sinfo" -h -N -t idle | wc -l)" = 2 ] || skip "the nodes of this Slurm do not come up: $(tail -n 1 "$work/daemons.log")"

cd "$work/apo" || exit 1
# On a machine with four CPUs four workers, two a node.
cpus=$(($(nproc) >= 4 ? 4 : 2))
workers=()
for cpu in $(seq 0 $((cpus - 1))); do
  workers+=(--workers "LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$work/slurm.conf exec $root/usr/bin/srun --quiet -n1 \
-w n$((cpu * 2 / cpus + 1)) env -u LD_LIBRARY_PATH /bin/sh -c 'echo \$\$ >$work/worker-$cpu; exec $apo worker --serve --target host --cpus $cpu'")
done
start() {
  # Each worker has one CPU, and so has the driver.
  taskset -c 0 "$apo" run copy --target host --workload n4k --baseline copy/simple --judge standard --iterations 2 --candidates 4 "${workers[@]}" \
    >>"$work/run.out" 2>>"$work/run.log" &
  driver=$!
  pids+=("$driver")
}
too_restless() { grep -q 'sentinel failed' "$1" && skip "this machine is too restless to judge on"; }
driver_gone() { too_restless "$work/run.log"; fail "the driver has ended, and what was to be shown of it was not"; }
# Waits for N more placements than there were.
given() { "$apo" query -q --csv --sql "SELECT count(*) FROM placement" 2>/dev/null | tail -n 1 | tr -d '\r'; }
await() {
  local until=$((${before:-0} + $1))
  for _ in $(seq 600); do
    before=$(given)
    [ "${before:-0}" -ge "$until" ] 2>/dev/null && return 0
    kill -0 "$driver" 2>/dev/null || driver_gone
    sleep 0.2
  done
  fail "no placement in two minutes"
}
whole() { "$apo" doctor 2>&1 | grep -qE '^(ok|limited) +journal' || fail "the journal is broken after $1: $("$apo" doctor 2>&1 | grep journal)"; }

start
await 1
kill -9 "$(cat "$work/worker-0")" 2>/dev/null
whole "the kill of a worker"
await 1
slurm "$root/usr/bin/scontrol" update nodename=n2 state=drain reason=test
slurm "$root/usr/bin/scancel" -w n2
whole "a node that was drained"
sleep 2
slurm "$root/usr/bin/scontrol" update nodename=n2 state=resume
await 1
slurm "$root/usr/bin/scancel" -u root
whole "scancel of all jobs"
await 1
kill -9 "$driver" 2>/dev/null
wait "$driver" 2>/dev/null
whole "the kill of the driver"
for _ in $(seq 100); do [ -z "$(slurm "$root/usr/bin/squeue" -h)" ] && break; sleep 0.1; done
[ -z "$(slurm "$root/usr/bin/squeue" -h)" ] || fail "jobs are left 10 s after their driver: $(slurm "$root/usr/bin/squeue")"
start
wait "$driver"
status=$?
whole "the resumed campaign"
[ "$status" -ne 2 ] || too_restless "$work/run.log"
[ "$status" -eq 0 ] || fail "the resumed campaign exits with $status"
grep -q 'gave_back\|died' "$work/run.log" || fail "nothing was noticed"
"$apo" status

# The same by --slurm.
mkdir -p "$work/bin"
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s SLURM_CONF=%s exec %s "$@"\n' "$libraries:$libraries/slurm-wlm" "$work/slurm.conf" \
  "$root/usr/bin/srun" >"$work/bin/srun"
chmod +x "$work/bin/srun"
PATH=$work/bin:$PATH "$apo" run copy --target host --workload n1001 --judge standard --iterations 1 --candidates 2 \
  --slurm 'partition=debug n=1 cpus-per-task=2' >"$work/slurm.out" 2>"$work/by_slurm.log"
status=$?
[ "$status" -ne 2 ] || too_restless "$work/by_slurm.log"
[ "$status" -eq 0 ] || fail "apo run --slurm exits with $status: $(tail -n 2 "$work/by_slurm.log")"
grep -q 'worker 1 .* has joined' "$work/by_slurm.log" || fail "no worker of Slurm has joined"
whole "a campaign by --slurm"

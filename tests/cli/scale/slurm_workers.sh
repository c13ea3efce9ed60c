#!/usr/bin/env bash
# tests/cli/scale/slurm_workers.sh APO CACHE WORK - a campaign on workers that a real Slurm places: two nodes on loopback, in WORK.
#
# Slurm and munge come from Debian's packages, unpacked below CACHE: nothing is installed. Exit code 77 with a sentence where that cannot be.
set -u
apo=$1 cache=$2 work=$3
. "$(dirname "$0")/placed_workers.sh"

[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
[ "$(nproc)" -ge 2 ] || skip "two workers on one CPU would disturb each other"
unpack usr/sbin/slurmctld-wlm slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm38 munge libmunge2 libhwloc15

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
TaskPlugin=task/affinity
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
for _ in $(seq 300); do [ -S "$work/munge/sock" ] && break; sleep 0.1; done
started "$root/usr/sbin/slurmctld-wlm" -D -c -f "$work/slurm.conf"
for node in n1 n2; do started "$root/usr/sbin/slurmd-wlm" -D -c -f "$work/slurm.conf" -d "$root/usr/sbin/slurmstepd-wlm" -N $node; done
for _ in $(seq 600); do [ "$(slurm "$root/usr/bin/sinfo" -h -N -t idle 2>/dev/null | wc -l)" = 2 ] && break; sleep 0.1; done
[ "$(slurm "$root/usr/bin/sinfo" -h -N -t idle | wc -l)" = 2 ] || skip "the nodes of this Slurm do not come up: $(tail -n 1 "$work/daemons.log")"

cd "$work/apo" || exit 1
# On a machine with four CPUs four workers, two a node.
cpus=$(($(nproc) >= 4 ? 4 : 2))
workers=()
for cpu in $(seq 0 $((cpus - 1))); do
  workers+=(--workers "LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$work/slurm.conf exec $root/usr/bin/srun --quiet -n1 \
-w n$((cpu * 2 / cpus + 1)) env -u LD_LIBRARY_PATH /bin/sh -c 'echo \$\$ >$work/worker-$cpu; exec $apo worker --serve --target host --cpus $cpu'")
done
no_jobs_left() {
  for _ in $(seq $patience); do [ -z "$(slurm "$root/usr/bin/squeue" -h)" ] && return 0; sleep 0.1; done
  fail "jobs are left behind their driver: $(slurm "$root/usr/bin/squeue")"
}

start --candidates 4 "${workers[@]}"
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
kill_driver
grep -q 'gave_back\|died' "$work/run.log" || fail "nothing was noticed"
no_jobs_left

# The campaign goes on with a template of docs/scale.md, whose workers are jobs of one CPU.
mkdir -p "$work/bin"
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s SLURM_CONF=%s exec %s "$@"\n' "$libraries:$libraries/slurm-wlm" "$work/slurm.conf" \
  "$root/usr/bin/srun" >"$work/bin/srun"
chmod +x "$work/bin/srun"
export PATH=$work/bin:$PATH
mv "$work/run.log" "$work/first.log"
start --candidates 4 --workers "2*srun --quiet --ntasks=1 --partition=debug --cpus-per-task=1 --nodelist=n1 $apo worker --serve --target host"
await_line 'worker 1 .* has joined'
await_line 'worker 2 .* has joined'
await 1
kill_driver
no_jobs_left

# It ends within a job, whose steps are its workers. The driver has one CPU there too.
mv "$work/run.log" "$work/by_slurm.log"
printf '#!/bin/sh\ntaskset -c 0 "%s" run %s --candidates 2 --workers "2*srun --quiet --exact --mem=0 --ntasks=1 --cpus-per-task=1 %s worker --serve --target host" >>"%s" 2>>"%s"\n' \
  "$apo" "$campaign" "$apo" "$work/run.out" "$work/run.log" >"$work/job.sh"
slurm "$root/usr/bin/sbatch" --quiet --wait --output=/dev/null --nodelist=n1 --ntasks=2 --chdir="$work/apo" "$work/job.sh"
ended $?
for worker in 1 2; do grep -q "worker $worker .* has joined" "$work/run.log" || fail "worker $worker of the job has not joined"; done
no_jobs_left

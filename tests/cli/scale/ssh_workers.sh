#!/usr/bin/env bash
# tests/cli/scale/ssh_workers.sh APO CACHE WORK - a campaign on a worker behind a real sshd on loopback, with keys and port of its own, in WORK.
#
# sshd comes from Debian's packages, unpacked below CACHE: nothing is installed. Exit code 77 with a sentence where that cannot be.
set -u
apo=$1 cache=$2 work=$3
. "$(dirname "$0")/placed_workers.sh"

[ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null || skip "sshd needs root and a mount namespace of its own"
unpack usr/sbin/sshd openssh-server openssh-client libwrap0 libcbor0.8 libfido2-1

root=$cache/root libraries=$cache/root/usr/lib/x86_64-linux-gnu port=$((20000 + RANDOM % 20000))
mkdir -p "$work/apo"
with_libraries() { LD_LIBRARY_PATH=$libraries "$@"; }
for key in host_key user_key; do
  with_libraries "$root/usr/bin/ssh-keygen" -q -t ed25519 -N '' -f "$work/$key" || skip "ssh-keygen does not run here"
done
cp "$work/user_key.pub" "$work/authorized_keys"
sed 's/^/[127.0.0.1]:'"$port"' /' "$work/host_key.pub" >"$work/known_hosts"
{ cat /etc/passwd; grep -q '^sshd:' /etc/passwd || echo 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin'; } >"$work/passwd"
cat >"$work/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $work/host_key
AuthorizedKeysFile $work/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
END
# The user and the folder that sshd asks for exist in its own view of the files alone.
unshare --mount /bin/sh -c 'mount --bind "$1/passwd" /etc/passwd && mount -t tmpfs none /run && mkdir -m 755 /run/sshd &&
  LD_LIBRARY_PATH="$2" exec "$3" -D -e -f "$1/sshd_config"' sh "$work" "$libraries" "$root/usr/sbin/sshd" >"$work/sshd.log" 2>&1 &
pids=($!)
trap 'kill "${pids[@]}" 2>/dev/null' EXIT
ssh="LD_LIBRARY_PATH=$libraries exec $root/usr/bin/ssh -F none -p $port -i $work/user_key -o BatchMode=yes -o UserKnownHostsFile=$work/known_hosts 127.0.0.1"
for _ in $(seq 300); do /bin/sh -c "$ssh true" >"$work/ssh.log" 2>&1 && up=yes && break; sleep 0.1; done
[ "${up:-no}" = yes ] || skip "this sshd does not come up: $(tail -n 1 "$work/ssh.log") $(tail -n 1 "$work/sshd.log")"

cd "$work/apo" || exit 1
worker="$ssh 'echo \$\$ >$work/worker; ${APO_HOME:+APO_HOME=$APO_HOME} APO_CACHE=${APO_CACHE:-$work/builds} exec $apo worker --serve --target host --cpus 0'"
start --candidates 1 --workers "$worker"
await 1
kill -9 "$(cat "$work/worker")"
await 1
grep -q 'worker 1: died' "$work/run.log" || fail "the death of the worker was not noticed"
whole "the kill of a worker"
kill_driver
for _ in $(seq $patience); do kill -0 "$(cat "$work/worker")" 2>/dev/null || break; sleep 0.1; done
! kill -0 "$(cat "$work/worker")" 2>/dev/null || fail "a worker is left behind its driver"
start --candidates 1 --workers "$worker"
wait "$driver"
ended $?

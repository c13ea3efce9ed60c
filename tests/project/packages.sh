#!/usr/bin/env bash
# tests/project/packages.sh BUILD - packs what BUILD installs, and uses the .deb and the archive as an ordinary user who may
# write to the working folder and to what XDG_RUNTIME_DIR names. Ends with 77 where the machine is too restless to judge on.
set -eu -o pipefail
build=$1
place=$(mktemp -d /tmp/apo-packages-XXXXXX)
trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT
chmod 755 "$place"
user=64999 # nobody else's
fail() { echo "$*" && exit 1; }

cpack --config "$build/CPackConfig.cmake" -B "$place/packages" >"$place/log" 2>&1 || fail "$(cat "$place/log")"
du -h "$place"/packages/*.deb "$place"/packages/*.tar.gz
deb=$(echo "$place"/packages/*.deb)
for package in g++ python3 libsqlite3-dev libspdlog-dev; do
  dpkg-deb --field "$deb" Depends | grep -qwF -- "$package" || fail "the package does not depend on $package"
done
dpkg-deb --field "$deb" Suggests | grep -q cuda-toolkit || fail "the package does not suggest the CUDA toolkit"
prefix=$(sed -n 's|/bin/apo$||p' "$build/install_manifest.txt")
diff <(sed "s|^$prefix/||" "$build/install_manifest.txt" | sort) \
  <(dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's|^./usr/\(.*[^/]\)$|\1|p' | sort) || fail "the package is not what is installed"
dpkg -x "$deb" "$place/deb"
mkdir "$place/an archive"
tar -xzf "$place"/packages/*.tar.gz -C "$place/an archive"

as_user() {
  local command=(env -i PATH=/usr/bin:/bin "HOME=$home" "XDG_RUNTIME_DIR=$home" "$@")
  [ "$(id -u)" -ne 0 ] || command=(setpriv "--reuid=$user" "--regid=$user" --clear-groups "${command[@]}")
  (cd "$work" && "${command[@]}")
}

# judged CODES COMMAND...: as_user, again where the A/A sentinel finds the machine restless.
judged() {
  local codes=$1 code
  shift
  for _ in 1 2 3 4 5; do
    code=0 && as_user "$@" >"$place/said" 2>&1 || code=$?
    [[ " $codes " != *" $code "* ]] || return 0
    grep -q 'A/A sentinel' "$place/said" || fail "$* ended with $code: $(cat "$place/said")"
  done
  echo "skipped: this machine is too restless to judge" && exit 77
}

for apo in "$place/deb/usr/bin/apo" "$place/an archive"/*/bin/apo; do
  work=$(mktemp -d "$place/work-XXXX") && home=$(mktemp -d "$place/home-XXXX")
  [ "$(id -u)" -ne 0 ] || chown "$user" "$work" "$home"
  chmod -R a-w "${apo%/bin/apo}"
  touch "$place/before"
  as_user "$apo" doctor >"$place/said" || fail "$(cat "$place/said")"
  grep -q 'installed from an archive' "$place/said" || fail "$(cat "$place/said")"
  judged 0 "$apo" run copy --workload n4k --candidates 1 --iterations 1
  as_user "$apo" new twice --axis 'n 1..4096' --input 'x f32[n] normal' --output 'y f32[n]' >/dev/null
  as_user "$apo" register twice.h >"$place/said" 2>&1 || fail "$(cat "$place/said")"
  echo 'void copy(const float* x, float* y, long n) { for (long i = n - 1; i >= 0; --i) y[i] = x[i]; }' | as_user tee backwards.cpp >/dev/null
  judged '0 3' "$apo" try copy backwards.cpp --workload n4k
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}' |
    as_user "$apo" mcp | grep -q '"serverInfo"' || fail "apo mcp does not answer"
  # Other tests' folders go while it looks: that is no failure.
  written=$(find / /dev/shm /run -xdev -user "$(stat -c %u "$work")" -newer "$place/before" -not -path "$place/*" -not -path '/proc/*' 2>/dev/null) || true
  [ "$(id -u)" -ne 0 ] || [ -z "$written" ] || fail "written elsewhere: $written"
  [ -z "$(find "${apo%/bin/apo}" -newer "$place/before")" ] || fail "the installation changed"
  find "$home" -type f | grep -v "^$home/apo/" && fail "written to the home folder"
  ls -A "$work"
done

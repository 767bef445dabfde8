#!/bin/sh
# Unpacks etcd and etcdctl of Debian releases into a directory, without installing or starting anything:
#   scripts/debian-etcd.sh DIRECTORY SUITE [SUITE...]     ->  DIRECTORY/<suite>/usr/bin/etcd, etcdctl
# The mirror and the keyring are those that this machine's apt already uses.
set -eu
directory=$1
shift
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk '$3 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
if [ -z "$mirror" ]; then
  echo "debian-etcd: apt on this machine has no Debian mirror configured; cannot get etcd" >&2
  exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

for suite in "$@"; do
  if [ -x "$directory/$suite/usr/bin/etcd" ] && [ -x "$directory/$suite/usr/bin/etcdctl" ]; then continue; fi
  state=$directory/apt-$suite
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/empty"
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$state/sources.list"
  set_apt() {
    apt-get -q -o Dir::State::status=/dev/null -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/empty" \
      -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Get::List-Cleanup=0 \
      -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
  }
  set_apt update >/dev/null
  (cd "$state" && set_apt download etcd-server etcd-client >/dev/null)
  for package in "$state"/*.deb; do dpkg-deb -x "$package" "$directory/$suite"; done
  rm -rf "$state"
  "$directory/$suite/usr/bin/etcd" --version | head -n 1 | sed "s/^/debian-etcd: $suite: /"
done

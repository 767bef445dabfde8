#!/bin/sh
# Unpacks etcd and etcdctl of Debian releases into a directory, without installing or starting anything:
#   scripts/debian-etcd.sh DIRECTORY SUITE [SUITE...]     ->  DIRECTORY/<suite>/usr/bin/etcd, etcdctl
set -eu
. "$(dirname "$0")/debian-apt.sh"
use_directory "$1"
shift

for suite in "$@"; do
  if [ -x "$directory/$suite/usr/bin/etcd" ] && [ -x "$directory/$suite/usr/bin/etcdctl" ]; then continue; fi
  open_suite "$suite"
  download etcd-server etcd-client
  for package in "$state"/*.deb; do dpkg-deb -x "$package" "$directory/$suite"; done
  close_suite
  "$directory/$suite/usr/bin/etcd" --version | head -n 1 | sed "s/^/$script: $suite: /"
done

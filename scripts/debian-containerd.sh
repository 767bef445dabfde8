#!/bin/sh
# Unpacks containerd of Debian releases, and one runc and busybox for all of them, into a directory, without installing or starting anything:
#   scripts/debian-containerd.sh DIRECTORY SUITE [SUITE...]     ->  DIRECTORY/<suite>/usr/bin/containerd, DIRECTORY/tools/usr/sbin/runc
# The tools are those of bookworm: a later runc needs a later C library than the oldest machine that runs this has.
set -eu
. "$(dirname "$0")/debian-apt.sh"
use_directory "$1"
shift

if [ ! -x "$directory/tools/usr/sbin/runc" ] || [ ! -x "$directory/tools/bin/busybox" ]; then
  open_suite bookworm
  download runc libseccomp2 busybox-static
  for package in "$state"/*.deb; do dpkg-deb -x "$package" "$directory/tools"; done
  close_suite
fi

for suite in "$@"; do
  if [ -x "$directory/$suite/usr/bin/containerd" ] && [ -x "$directory/$suite/usr/bin/ctr" ]; then continue; fi
  open_suite "$suite"
  download containerd
  for package in "$state"/*.deb; do dpkg-deb -x "$package" "$directory/$suite"; done
  close_suite
  "$directory/$suite/usr/bin/containerd" --version | sed "s/^/$script: $suite: /"
done

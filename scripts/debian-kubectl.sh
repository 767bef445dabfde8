#!/bin/sh
# Unpacks kubectl of Debian releases into a directory, without installing anything:
#   scripts/debian-kubectl.sh DIRECTORY SUITE [SUITE...]     ->  DIRECTORY/<suite>/usr/bin/kubectl
set -eu
. "$(dirname "$0")/debian-apt.sh"
use_directory "$1"
shift

for suite in "$@"; do
  if [ -x "$directory/$suite/usr/bin/kubectl" ]; then continue; fi
  open_suite "$suite"
  # Until Debian 12 the package had another name, which is an empty one since.
  { download kubectl || download kubernetes-client; } 2>/dev/null || { echo "$script: $suite has no kubectl" >&2; exit 1; }
  dpkg-deb -x "$state"/kube*.deb "$directory/$suite"
  close_suite
  "$directory/$suite/usr/bin/kubectl" version --client | head -n 1 | sed "s/^/$script: $suite: /"
done

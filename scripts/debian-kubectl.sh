#!/bin/sh
# Unpacks kubectl from Debian releases, newer than this machine's or not, into a directory, without installing anything:
#   scripts/debian-kubectl.sh DIRECTORY SUITE [SUITE...]     ->  DIRECTORY/<suite>/usr/bin/kubectl
# The mirror and the keyring are those that this machine's apt already uses.
set -eu
directory=$1
shift
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk '$3 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
if [ -z "$mirror" ]; then
  echo "debian-kubectl: apt on this machine has no Debian mirror configured; cannot get another kubectl" >&2
  exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

for suite in "$@"; do
  if [ -x "$directory/$suite/usr/bin/kubectl" ]; then continue; fi
  state=$directory/apt-$suite
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/empty"
  echo "deb [signed-by=$keyring] $mirror $suite main" > "$state/sources.list"
  set_apt() {
    apt-get -q -o Dir::State::status=/dev/null -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/empty" \
      -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Get::List-Cleanup=0 \
      -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
  }
  set_apt update >/dev/null
  # Until Debian 12 the package had another name, which is an empty one since.
  (cd "$state" && { set_apt download kubectl || set_apt download kubernetes-client; } >/dev/null 2>&1)
  dpkg-deb -x "$state"/kube*.deb "$directory/$suite"
  rm -rf "$state"
  "$directory/$suite/usr/bin/kubectl" version --client | head -n 1 | sed "s/^/debian-kubectl: $suite: /"
done

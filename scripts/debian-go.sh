#!/bin/sh
# Unpacks Go and client-go from a Debian release newer than this machine's into a directory, without installing anything:
#   scripts/debian-go.sh DIRECTORY SUITE     ->  DIRECTORY/<suite>/go (GOROOT), DIRECTORY/<suite>/usr/share/gocode (GOPATH)
# apt works out what client-go needs as if nothing were installed; of that, the Go compiler and the packages of Go source are
# taken. A C compiler is not among them: build with CGO_ENABLED=0.
set -eu
. "$(dirname "$0")/debian-apt.sh"
use_directory "$1"
suite=$2
target=$directory/$suite
if [ -x "$target/go/bin/go" ]; then exit 0; fi

open_suite "$suite"

# Test frameworks and the tools' own source are in the closure, but nothing that is built here imports them.
packages=$(suite_apt install -y --no-install-recommends --print-uris golang-go golang-k8s-client-go-dev \
  | sed -n "s/^'[^']*' \(golang-[^_]*\)_.*/\1/p" \
  | grep -E -e '-dev$' -e '^golang-[0-9.]+-(go|src)$' \
  | grep -vE 'ginkgo|gomega|pprof|nxadm|golang-x-tools|kin-openapi|goldmark' || true)
if [ -z "$packages" ]; then
  echo "$script: $suite has no golang-k8s-client-go-dev that could be installed" >&2
  exit 1
fi
# shellcheck disable=SC2086 # one word each
download $packages
rm -rf "$target"
mkdir "$state/root"
for package in "$state"/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$state/root" --exclude='./usr/share/doc' --exclude='./usr/share/go-*/test'
done

mv "$state/root" "$target"
ln -s "$(cd "$target" && echo usr/lib/go-*)" "$target/go"
version=$(basename "$(ls "$state"/golang-k8s-client-go-dev_*.deb)" | cut -d_ -f2)
echo "$version" > "$target/client-go.version"
close_suite
echo "$script: $suite: client-go $version, $("$target/go/bin/go" version)"

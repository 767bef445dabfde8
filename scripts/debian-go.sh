#!/bin/sh
# Unpacks Go and client-go from a Debian release newer than this machine's into a directory, without installing anything:
#   scripts/debian-go.sh DIRECTORY SUITE     ->  DIRECTORY/<suite>/go (GOROOT), DIRECTORY/<suite>/usr/share/gocode (GOPATH)
# apt works out what client-go needs as if nothing were installed; of that, the Go compiler and the packages of Go source are
# taken. A C compiler is not among them: build with CGO_ENABLED=0. The mirror and the keyring are those of this machine's apt.
set -eu
directory=$1
suite=$2
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
target=$directory/$suite
if [ -x "$target/go/bin/go" ]; then exit 0; fi

mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk '$3 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
if [ -z "$mirror" ]; then
  echo "debian-go: apt on this machine has no Debian mirror configured; cannot get Go" >&2
  exit 1
fi
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

state=$directory/apt-$suite
rm -rf "$state" "$target"
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/empty" "$state/root"
echo "deb [signed-by=$keyring] $mirror $suite main" > "$state/sources.list"
set_apt() {
  apt-get -q -o Dir::State::status=/dev/null -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/empty" \
    -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Get::List-Cleanup=0 \
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}
set_apt update >/dev/null

# Test frameworks and the tools' own source are in the closure, but nothing that is built here imports them.
packages=$(set_apt install -y --no-install-recommends --print-uris golang-go golang-k8s-client-go-dev \
  | sed -n "s/^'[^']*' \(golang-[^_]*\)_.*/\1/p" \
  | grep -E -e '-dev$' -e '^golang-[0-9.]+-(go|src)$' \
  | grep -vE 'ginkgo|gomega|pprof|nxadm|golang-x-tools|kin-openapi|goldmark')
if [ -z "$packages" ]; then
  echo "debian-go: $suite has no golang-k8s-client-go-dev that could be installed" >&2
  exit 1
fi
# shellcheck disable=SC2086 # one word each
(cd "$state" && set_apt download $packages >/dev/null)
for package in "$state"/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$state/root" --exclude='./usr/share/doc' --exclude='./usr/share/go-*/test'
done

mv "$state/root" "$target"
ln -s "$(cd "$target" && echo usr/lib/go-*)" "$target/go"
version=$(basename "$(ls "$state"/golang-k8s-client-go-dev_*.deb)" | cut -d_ -f2)
echo "$version" > "$target/client-go.version"
rm -rf "$state"
echo "debian-go: $suite: client-go $version, $("$target/go/bin/go" version)"

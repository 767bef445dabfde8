#!/bin/sh
# Assembles the root file system of the container image from Debian packages and the packed package, without a container engine:
#   scripts/image-root.sh DIRECTORY [SUITE]     ->  DIRECTORY/root, DIRECTORY/root.tar
# The root file system holds Node.js with the libraries that it needs, the certificate authorities, and kubegc: no shell, no apt, no npm.
# Debian 13 (trixie) is the first release whose Node.js is new enough. No maintainer script runs, so nothing of this machine gets in.
set -eu
. "$(dirname "$0")/debian-apt.sh"
source=$(cd "$(dirname "$0")/.." && pwd)
use_directory "$1"
suite=${2:-trixie}
root=$directory/root
rm -rf "$root" "$directory/root.tar"
mkdir -p "$root"

open_suite "$suite"
# apt works out what nodejs needs as if nothing were installed.
suite_apt install -y --no-install-recommends --download-only nodejs base-files >/dev/null
download ca-certificates
# base-files first: it has the links from /lib and /lib64 into /usr.
for package in "$state"/cache/archives/base-files_*.deb "$state"/cache/archives/*.deb "$state"/ca-certificates_*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink \
    --exclude='./usr/share/doc/*/changelog*' --exclude='./usr/share/man' --exclude='./usr/share/locale' --exclude='./usr/share/info' --exclude='./usr/include'
done

# What update-ca-certificates would write: Debian's Node.js trusts this file.
mkdir -p "$root/etc/ssl/certs"
cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"

echo 'root:x:0:0:root:/root:/usr/sbin/nologin
kubegc:x:1000:1000:kubegc:/var/lib/kubegc:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'root:x:0:
kubegc:x:1000:' >"$root/etc/group"
mkdir -p "$root/var/lib/kubegc"
chown 1000:1000 "$root/var/lib/kubegc"

# The program alone: declarations and pages are for people.
# The build of dist belongs to npm ci; a build here would race with whoever runs it at the same time.
package=$(cd "$source" && npm pack --silent --ignore-scripts --pack-destination "$state")
mkdir -p "$root/usr/lib/kubegc"
tar -x -z -f "$state/$package" -C "$root/usr/lib/kubegc" --strip-components=1 --no-same-owner --exclude=package/docs --exclude=package/deploy --exclude=package/dist/types
close_suite
# There is no env here to look for node.
sed -i '1s|.*|#!/usr/bin/node|' "$root/usr/lib/kubegc/dist/kubegc.js"
ln -s ../lib/kubegc/dist/kubegc.js "$root/usr/bin/kubegc"

tar -c -f "$directory/root.tar" --numeric-owner --sort=name -C "$root" .
echo "$script: $suite: Node.js $(basename "$(ls "$root"/usr/lib/*/libnode.so.*)"), kubegc, $(du -sm "$root" | cut -f1) MiB in $root"

# Packages of Debian releases, newer than this machine's or not, without installing anything. Sourced by scripts/debian-*.sh; a
# script opens one suite at a time. The mirror and the keyring are those that this machine's apt already uses.
script=$(basename "$0" .sh)

# use_directory DIRECTORY: sets $directory to its absolute path, and makes it if need be.
use_directory() {
  mkdir -p "$1"
  directory=$(cd "$1" && pwd)
}

# open_suite SUITE: sets $state, a folder of its own for apt, and reads the suite's lists.
open_suite() {
  mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 2>/dev/null | awk '$3 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
  if [ -z "$mirror" ]; then
    echo "$script: apt on this machine has no Debian mirror configured" >&2
    exit 1
  fi
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  state=$directory/apt-$1
  # What an interrupted run has left.
  rm -rf "$state"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/empty"
  echo "deb [signed-by=$keyring] $mirror $1 main" > "$state/sources.list"
  suite_apt update >/dev/null
}

# suite_apt ARGS...: apt-get as if nothing were installed and nothing but the suite existed.
suite_apt() {
  apt-get -q -o Dir::State::status=/dev/null -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/empty" \
    -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Get::List-Cleanup=0 \
    -o APT::Sandbox::User=root -o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}

# download PACKAGE...: their .deb files into $state.
download() {
  (cd "$state" && suite_apt download "$@" >/dev/null)
}

close_suite() {
  rm -rf "$state"
}

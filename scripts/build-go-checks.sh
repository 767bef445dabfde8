#!/bin/sh
# Compiles what test/compat builds with client-go, so that the suites find it in the cache of Go (.cache/go-build):
#   scripts/build-go-checks.sh DIRECTORY     DIRECTORY as scripts/debian-go.sh has left it
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
go=$(cd "$1" && pwd)
export GOROOT="$go/go" GOPATH="$go/usr/share/gocode" GOCACHE="$root/.cache/go-build"
export GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
# The compiler is a Go program too: a fifth of its time goes into collecting its own garbage.
export GOGC=800
cd "$root/test/compat/go"
"$GOROOT/bin/go" build -o /dev/null .
cd ../go-envtest
"$GOROOT/bin/go" test -c -o /dev/null .

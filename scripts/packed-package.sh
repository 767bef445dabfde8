#!/usr/bin/env bash
# Installs the packed tarball into an empty folder, as a user gets it, and shows that it serves real kubectl, is small, and
# runs without the optional store; and that kubegc/testing does what docs/testing.md says. Needs KUBECTL_PATHS (its first entry
# is used) or kubectl on the PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
kubectl=${KUBECTL_PATHS:-kubectl}
kubectl=${kubectl%%:*}
folder=$(mktemp -d)
pid=''
# npx starts a shell that starts the program, and hands on no signal: all three are in a process group of their own.
stop() { [ -z "$pid" ] || kill -TERM -- "-$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; pid=''; }
cleanup() { stop; rm -rf "$folder"; }
trap cleanup EXIT
limit_kib=$((20 * 1024))

npm pack --silent --pack-destination "$folder" "$root" >/dev/null
cd "$folder"
export HOME=$folder npm_config_update_notifier=false
# npm publish repairs what is wrong in package.json and warns: there is nothing to repair. Only what is meant for users is packed.
mkdir packed
tar -x -z -f kubegc-*.tgz -C packed --strip-components=1
(cd packed && cp package.json before.json && npm pkg fix && diff before.json package.json && rm before.json)
expected='LICENSE NOTICE README.md THIRD-PARTY-LICENSES deploy dist docs package.json schemas'
there=$(cd packed && LC_ALL=C printf '%s\n' * | LC_ALL=C sort | xargs)
[ "$there" = "$expected" ] || { echo "the package has: $there; and should have: $expected" >&2; exit 1; }
"$kubectl" kustomize packed/deploy/kustomize/base >/dev/null
rm -rf packed

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund ./kubegc-*.tgz
size=$(du -sk node_modules | cut -f1)
echo "installed: $size KiB"
[ "$size" -lt "$limit_kib" ] || { echo "the installed package is larger than $limit_kib KiB" >&2; exit 1; }

for name in kubegc kubectl-cascade kubectl-undelete kubectl_complete-cascade kubectl_complete-undelete; do
  node_modules/.bin/$name --help >/dev/null || { echo "the package has no program $name that starts" >&2; exit 1; }
done

serve() { # serve ARGS...: starts it and waits for the ready line
  setsid npx kubegc up --listen 127.0.0.1:0 --write-kubeconfig "$folder/kubeconfig" "$@" >"$folder/out" 2>&1 &
  pid=$!
  for _ in $(seq 300); do
    grep -q '^kubegc is ready' "$folder/out" && return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$folder/out" >&2
  return 1
}
cascade() { # an owner and its dependent, with real kubectl
  export KUBECONFIG=$folder/kubeconfig
  "$kubectl" create configmap owner >/dev/null
  uid=$("$kubectl" get configmap owner -o jsonpath='{.metadata.uid}')
  "$kubectl" create secret generic dependent >/dev/null
  "$kubectl" patch secret dependent -p \
    "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"owner\",\"uid\":\"$uid\"}]}}" >/dev/null
  "$kubectl" delete configmap owner >/dev/null
  "$kubectl" wait --for=delete secret/dependent --timeout=20s >/dev/null
  echo "a cascade with $1"
}

cp "$root"/test/packed/*.mjs .
node --test testing.test.mjs >"$folder/tests" || { cat "$folder/tests" >&2; exit 1; }
grep -E '^# (ready|two hundred|pass)' "$folder/tests"

serve
cascade 'the file store'
stop

serve --store memory
cascade 'the memory store'
stop

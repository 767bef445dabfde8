#!/bin/sh
# Makes the TypeScript of the files under proto/. Needs protoc (Debian: protobuf-compiler); the generator comes from npm.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# generate PROTO DIRECTORY
generate() {
  npx --yes --package=@bufbuild/protoc-gen-es@2 -- sh -c \
    'protoc --plugin=protoc-gen-es="$(command -v protoc-gen-es)" --es_out="$1" --es_opt=target=ts --proto_path="$(dirname "$2")" "$(basename "$2")"' sh "$out" "$1"
  name=$(basename "$1" .proto)
  mv "$out/${name}_pb.ts" "$2/$name.generated.ts"
}
generate proto/etcd/rpc.proto src/apiserver/storage/etcd
generate proto/cri/runtime.proto src/nodegc/cri
generate proto/cri/lists.proto src/nodegc/cri
generate proto/containerd/content.proto src/nodegc/containerd
generate proto/containerd/images.proto src/nodegc/containerd
generate proto/containerd/snapshots.proto src/nodegc/containerd
generate proto/containerd/containers.proto src/nodegc/containerd
generate proto/containerd/leases.proto src/nodegc/containerd

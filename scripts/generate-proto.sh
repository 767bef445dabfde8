#!/bin/sh
# Makes the TypeScript of proto/etcd/rpc.proto. Needs protoc (Debian: protobuf-compiler); the generator comes from npm.
set -eu
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
npx --yes --package=@bufbuild/protoc-gen-es@2 -- sh -c \
  'protoc --plugin=protoc-gen-es="$(command -v protoc-gen-es)" --es_out="$1" --es_opt=target=ts --proto_path=proto/etcd rpc.proto' sh "$out"
mv "$out/rpc_pb.ts" src/apiserver/storage/etcd/rpc.generated.ts

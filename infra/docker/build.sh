#!/bin/sh
# build.sh NAME:TAG [ARCHITECTURE]: build the container image for amd64 or arm64 (default: the
# architecture of this machine), and load it into Docker. The program is cross-compiled, and the
# image is made of files only (infra/dist/image.go), so neither emulation nor a base image is
# needed.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
image=$1 arch=${2:-$(go env GOHOSTARCH)}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
GOOS=linux GOARCH=$arch make -s build OUT="$folder/guidon"
(cd infra/dist && go run . image -source "$OLDPWD" -binary "$folder/guidon" -name "$image" -authorities "${CA_CERTIFICATES:-}") >"$folder/image.tar"
docker load -q -i "$folder/image.tar"

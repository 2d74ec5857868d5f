#!/bin/sh
# build.sh NAME[:TAG] [ARCHITECTURE]: build the container image for amd64 or arm64 (default:
# the architecture of this machine). The binary is cross-compiled and the image only
# copies files, so neither emulation nor a base image is needed.
set -eu
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0"; exit 2; }
image=$1 host=$(go env GOHOSTARCH)
arch=${2:-$host}
authorities=${CA_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}

context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir "$context/data"
cp "$authorities" "$context/ca-certificates.crt"
GOOS=linux GOARCH=$arch make -s build OUT="$context/guidon-$arch"
# Images for other architectures require BuildKit.
[ "$arch" = "$host" ] || export DOCKER_BUILDKIT=1
docker build -q -f infra/docker/Dockerfile --platform "linux/$arch" --build-arg "TARGETARCH=$arch" -t "$image" "$context"

#!/bin/sh
set -e

# During an upgrade the service continues until its new program is there.
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  deb-systemd-invoke stop guidon.service >/dev/null || true
fi

#!/bin/sh
set -e

if [ "$1" = remove ] && [ -x /usr/bin/deb-systemd-helper ]; then
  deb-systemd-helper mask guidon.service >/dev/null || true
fi
if [ "$1" = purge ]; then
  if [ -x /usr/bin/deb-systemd-helper ]; then
    deb-systemd-helper purge guidon.service >/dev/null || true
    deb-systemd-helper unmask guidon.service >/dev/null || true
  fi
  # The account remains, so that nobody else gets its number and with it files elsewhere.
  rm -rf /var/lib/guidon
fi
if [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
fi

#!/bin/sh
set -e

case "$1" in configure | abort-upgrade | abort-deconfigure | abort-remove) ;; *) exit 0 ;; esac

#ACCOUNT#
# The service starts with the machine unless its administrator has decided otherwise.
if [ -x /usr/bin/deb-systemd-helper ]; then
  deb-systemd-helper unmask guidon.service >/dev/null || true
  if deb-systemd-helper --quiet was-enabled guidon.service; then
    deb-systemd-helper enable guidon.service >/dev/null || true
  else
    deb-systemd-helper update-state guidon.service >/dev/null || true
  fi
fi
if [ -d /run/systemd/system ]; then
  systemctl --system daemon-reload >/dev/null || true
  # $2 is the version before an upgrade.
  if [ -n "$2" ]; then action=restart; else action=start; fi
  deb-systemd-invoke $action guidon.service >/dev/null || true
fi

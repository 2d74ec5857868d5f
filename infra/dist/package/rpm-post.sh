#ACCOUNT#
if [ -d /run/systemd/system ]; then systemctl daemon-reload >/dev/null 2>&1 || :; fi
# $1 is how many versions are installed after this. The presets of the machine decide whether
# the service starts with it.
if [ "$1" -eq 1 ] && [ -x /usr/bin/systemctl ]; then
  systemctl --no-reload preset guidon.service >/dev/null 2>&1 || :
fi

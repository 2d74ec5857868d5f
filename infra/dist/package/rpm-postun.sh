if [ -d /run/systemd/system ]; then
  systemctl daemon-reload >/dev/null 2>&1 || :
  # An upgrade restarts the service if it is running.
  if [ "$1" -ge 1 ]; then systemctl try-restart guidon.service >/dev/null 2>&1 || :; fi
fi

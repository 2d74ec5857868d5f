# $1 is how many versions are installed after this.
if [ "$1" -eq 0 ] && [ -x /usr/bin/systemctl ]; then
  systemctl --no-reload disable --now guidon.service >/dev/null 2>&1 || :
fi

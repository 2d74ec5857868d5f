# The account of the service, and the folder of its data, which only it can read. Existing ones
# stay as they are.
getent group guidon >/dev/null || groupadd --system guidon
getent passwd guidon >/dev/null || useradd --system --gid guidon --no-create-home \
  --home-dir /var/lib/guidon --shell /usr/sbin/nologin --comment "Guidon feature flags" guidon
[ -d /var/lib/guidon ] || install -d -o guidon -g guidon -m 0700 /var/lib/guidon

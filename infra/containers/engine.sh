#!/bin/sh
# Provides Docker and the database images for the integration tests on a Debian machine
# without access to an image registry. The images are built from Debian packages, with the
# names and environment variables of the public images. With a registry, this script is
# not needed. It requires root, and may be run repeatedly.
#
#   engine.sh up                          install and start the engine
#   engine.sh images [NAME ...]           build missing images
#   engine.sh env                         print the environment for testcontainers-go
#   engine.sh down                        stop the engine if this script started it
#
# Images: postgres (postgres:17), mariadb (mariadb:11.8), mysql (mysql:9, from Debian
# unstable), redis (redis:8), valkey (valkey:8).
set -eu
STATE=${ENGINE_STATE:-/var/lib/guidon-containers}
log() { echo "engine.sh: $*" >&2; }

up() {
  if ! command -v dockerd >/dev/null || ! command -v mmdebstrap >/dev/null; then
    log "installing docker.io, mmdebstrap"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
      docker.io iptables ca-certificates mmdebstrap >/dev/null
  fi
  mkdir -p "$STATE"
  if docker info >/dev/null 2>&1; then return; fi
  # A killed engine leaves these behind, and its zombie process seems to be running.
  rm -f /var/run/docker.pid /var/run/docker/containerd/containerd.pid
  : >"$STATE/started"
  # --ip: published ports listen on loopback only.
  setsid nohup dockerd --ip 127.0.0.1 >"$STATE/dockerd.log" 2>&1 </dev/null &
  i=0
  until docker info >/dev/null 2>&1; do
    i=$((i + 1))
    [ $i -lt 120 ] || { tail -20 "$STATE/dockerd.log" >&2; log "engine did not start"; exit 1; }
    sleep 0.25
  done
  log "engine started after $i quarter seconds"
}

down() {
  [ -f "$STATE/started" ] || return 0
  rm "$STATE/started"
  [ -f /var/run/docker.pid ] || return 0
  kill "$(cat /var/run/docker.pid)" 2>/dev/null || rm -f /var/run/docker.pid
  i=0; while [ -f /var/run/docker.pid ] && [ $i -lt 120 ]; do i=$((i + 1)); sleep 0.25; done
}

# base NAME SUITE PACKAGES CLEANUP: import a minimal Debian with PACKAGES as NAME
base() {
  t=$(mktemp)
  mmdebstrap --quiet --variant=minbase \
    --aptopt='Acquire::Check-Valid-Until "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    ${3:+--include="$3"} --customize-hook="cd \"\$1\" && rm -rf $4 var/cache/apt/*.bin" "$2" - >"$t"
  docker import -c 'CMD ["sh"]' - "$1" <"$t" >/dev/null
  rm -f "$t"
}

# image NAME SUITE PACKAGES CLEANUP PORT ENTRY CMD-JSON [STOPSIGNAL]
image() {
  if docker image inspect "$1" >/dev/null 2>&1; then return; fi
  log "building $1 from Debian $2"
  d=$(mktemp -d) b=guidon-base/$(echo "$1" | tr :/ --)
  base "$b" "$2" "$3" "$4"
  {
    echo "FROM $b"
    echo "COPY entry /usr/local/bin/docker-entrypoint.sh"
    echo 'ENTRYPOINT ["docker-entrypoint.sh"]'
    echo "EXPOSE $5"
    echo "CMD $7"
    [ -z "${8:-}" ] || echo "STOPSIGNAL $8"
  } >"$d/Dockerfile"
  "$6" >"$d/entry"
  chmod 0755 "$d/entry"
  DOCKER_BUILDKIT=0 docker build -q -t "$1" "$d" >/dev/null 2>"$STATE/build.log" ||
    { cat "$STATE/build.log" >&2; exit 1; }
  rm -rf "$d"
}

pg_entry() { cat <<'EOF'
#!/bin/sh
set -eu
: "${POSTGRES_USER:=postgres}" "${PGDATA:=/var/lib/postgresql/data}"
: "${POSTGRES_DB:=$POSTGRES_USER}"
export PGDATA PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"
case "${1:-}" in -*) set -- postgres "$@" ;; esac
[ "$1" = postgres ] || exec "$@"
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
mkdir -p "$PGDATA" /run/postgresql
chown postgres: "$PGDATA" /run/postgresql
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  auth=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  if [ -z "${POSTGRES_PASSWORD:-}" ] && [ "$auth" != trust ]; then
    echo "POSTGRES_PASSWORD is not set" >&2; exit 1
  fi
  pw=$(mktemp); echo "${POSTGRES_PASSWORD:-unused}" >"$pw"; chown postgres "$pw"
  as initdb -U "$POSTGRES_USER" --pwfile "$pw" -E UTF8 --locale C.UTF-8 -A trust --no-sync >/dev/null
  rm "$pw"
  echo "host all all all $auth" >>"$PGDATA/pg_hba.conf"
  printf "listen_addresses = '*'\njit = off\n" >>"$PGDATA/postgresql.conf"
  as pg_ctl -w -s -o "-c listen_addresses=''" start
  [ "$POSTGRES_DB" = postgres ] || createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  for f in /docker-entrypoint-initdb.d/*; do
    case "$f" in
      *.sql) psql -q -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -f "$f" ;;
      *.sh) . "$f" ;;
    esac
  done
  as pg_ctl -w -s -m fast stop
fi
exec setpriv --reuid postgres --regid postgres --init-groups "$@"
EOF
}

my_entry() { cat <<'EOF'
#!/bin/sh
set -eu
srv=mysqld cli=mysql
if command -v mariadbd >/dev/null; then srv=mariadbd cli=mariadb; fi
case "${1:-}" in
  -*|"") set -- "$srv" "$@" ;;
  mysqld|mariadbd) shift; set -- "$srv" "$@" ;;
  *) exec "$@" ;;
esac
D=/var/lib/mysql S=/run/mysqld/init.sock
v() { eval "printf %s \"\${MYSQL_$1:-\${MARIADB_$1:-}}\""; }
c() { "$cli" --no-defaults -uroot -S "$S" "$@"; }
mkdir -p "$D" /run/mysqld
chown mysql: "$D" /run/mysqld
if [ ! -d "$D/mysql" ]; then
  if [ "$srv" = mariadbd ]; then
    mariadb-install-db --user=mysql --datadir="$D" --auth-root-authentication-method=normal --skip-test-db >/dev/null
  else
    mysqld --initialize-insecure --user=mysql --datadir="$D"
  fi
  "$srv" --user=mysql --datadir="$D" --skip-networking --socket="$S" &
  pid=$!
  until c -e 'select 1' >/dev/null 2>&1; do kill -0 $pid; sleep 0.1; done
  db=$(v DATABASE) u=$(v USER) p=$(v PASSWORD) r=$(v ROOT_PASSWORD)
  [ -z "$db" ] || c -e "CREATE DATABASE IF NOT EXISTS \`$db\`"
  if [ -n "$u" ] && [ "$u" != root ]; then
    c -e "CREATE USER '$u'@'%' IDENTIFIED BY '$p'"
    [ -z "$db" ] || c -e "GRANT ALL ON \`$db\`.* TO '$u'@'%'"
  fi
  for f in /docker-entrypoint-initdb.d/*.sql; do [ ! -f "$f" ] || c ${db:+"$db"} <"$f"; done
  c -e "CREATE USER 'root'@'%' IDENTIFIED BY '$r'; GRANT ALL ON *.* TO 'root'@'%' WITH GRANT OPTION; ALTER USER 'root'@'localhost' IDENTIFIED BY '$r'"
  kill $pid; wait $pid || true
fi
exec "$@" --user=mysql --datadir="$D" --bind-address='*'
EOF
}

redis_entry() { cat <<'EOF'
#!/bin/sh
case "${1:-}" in
  -*|"") s=redis-server; command -v $s >/dev/null || s=valkey-server; set -- $s --protected-mode no "$@" ;;
esac
exec "$@"
EOF
}

images() {
  [ $# -gt 0 ] || set -- postgres mariadb mysql redis valkey
  for n in "$@"; do
    case $n in
      postgres) image postgres:17 trixie postgresql-17 'var/lib/postgresql/*/main usr/lib/*/libLLVM* usr/lib/*/libz3*' \
        5432 pg_entry '["postgres"]' SIGINT ;;
      mariadb) image mariadb:11.8 trixie mariadb-server 'var/lib/mysql/*' 3306 my_entry '["mariadbd"]' ;;
      redis) image redis:8 trixie redis-server 'var/lib/redis/*' 6379 redis_entry '["redis-server","--protected-mode","no"]' ;;
      valkey) image valkey:8 trixie valkey-server 'var/lib/valkey/*' 6379 redis_entry '["valkey-server","--protected-mode","no"]' ;;
      mysql) image mysql:9 sid mysql-server 'var/lib/mysql/*' 3306 my_entry '["mysqld"]' ;;
      *) log "unknown image $n"; exit 2 ;;
    esac
  done
}

case "${1:-}" in
  up) up ;;
  images) shift; up; images "$@" ;;
  down) down ;;
  env)
    # The image of the cleanup helper (Ryuk) cannot be pulled. Inside a container, the
    # library would connect to published ports on the gateway.
    echo "export TESTCONTAINERS_RYUK_DISABLED=true"
    echo "export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1" ;;
  *) sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac

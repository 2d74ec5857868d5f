#!/bin/sh
# Runs every fuzz target for the given time, such as "10s". A second argument such as "2/3"
# selects the second of three parts of the packages.
set -eu

time=$1
part=${2:-1/1}
go=${GO:-go}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
tests=$temporary/tests
output=$temporary/output

# fuzzed: list the packages with fuzz targets and their directories.
fuzzed() {
  files='{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}'
  "$go" list -f "$files" ./... | while read -r package dir file; do
    if [ -n "$file" ] && grep -q '^func Fuzz' "$dir/$file"; then echo "$package $dir"; fi
  done | sort -u
}

# fuzz PACKAGE TARGET: run the fuzz target of the compiled tests, in their directory.
fuzz() {
  status=0
  # -test.fuzzminimizetime: by default, a failing input is minimized for a minute.
  "$tests" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" -test.fuzzminimizetime 1s \
    -test.fuzzcachedir "$("$go" env GOCACHE)/fuzz/$1" >"$output" 2>&1 || status=$?
  cat "$output"
  return "$status"
}

# spurious: report whether the failure is a bug of Go. Before Go 1.27, the end of the
# time may be reported as a failure of the target (go.dev/issue/75804).
spurious() {
  grep -q '^ *context deadline exceeded$' "$output" && ! grep -Eqi 'failing input|seed corpus|panic' "$output"
}

fuzzed | awk -v part="${part%/*}" -v parts="${part#*/}" 'NR % parts == part % parts' | while read -r package dir; do
  "$go" test -c -fuzz . -o "$tests" "$package" # instrumented, and only once for all targets
  cd "$dir"
  "$tests" -test.list '^Fuzz' | { grep '^Fuzz' || true; } | while read -r target; do
    echo "$package $target"
    fuzz "$package" "$target" </dev/null || {
      spurious || exit 1
      echo "spurious failure: running it again"
      fuzz "$package" "$target" </dev/null || exit 1
    }
  done || exit 1
  cd - >/dev/null
done

#!/bin/sh
# Runs every fuzz target for the given time, such as "10s".
set -eu

time=$1
go=${GO:-go}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# fuzz PACKAGE TARGET: run the fuzz target.
fuzz() {
  status=0
  # -fuzzminimizetime: by default, a failing input is minimized for a minute.
  "$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1s "$1" >"$output" 2>&1 || status=$?
  cat "$output"
  return "$status"
}

# spurious: report whether the failure is a bug of Go. Before Go 1.27, the end of the
# time may be reported as a failure of the target (go.dev/issue/75804).
spurious() {
  grep -q '^ *context deadline exceeded$' "$output" && ! grep -Eqi 'failing input|seed corpus|panic' "$output"
}

# fuzzed: list the packages with fuzz targets, without compiling the tests of all others.
fuzzed() {
  files='{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}'
  "$go" list -f "$files" ./... | while read -r package file; do
    if [ -n "$file" ] && grep -q '^func Fuzz' "$file"; then echo "$package"; fi
  done | sort -u
}

fuzzed | while read -r package; do
  "$go" test -list '^Fuzz' "$package" | { grep '^Fuzz' || true; } | while read -r target; do
    echo "$package $target"
    fuzz "$package" "$target" </dev/null || {
      spurious || exit 1
      echo "spurious failure: running it again"
      fuzz "$package" "$target" </dev/null || exit 1
    }
  done || exit 1
done

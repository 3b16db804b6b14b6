#!/usr/bin/env bash
# tests/fuzz/all.sh: its table and exit code, with scripts in place of fuzz programs.
set -u
failures=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expect() { # description, wanted, got
    [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got $3"; failures=$((failures + 1)); }
}
all() { bash "$SOURCE/tests/fuzz/all.sh" "$folder/programs" 1 2 --corpus "$folder/corpus" --findings "$folder/findings" "$@"; }

mkdir -p "$folder/programs" "$folder/corpus/good"
cat >"$folder/programs/fuzz_good" <<'PROGRAM'
#!/bin/sh
echo "$@" >&2
echo '#2 INITED cov: 7 ft: 8'
echo '#9 NEW    cov: 12 ft: 20'
echo 'Done 34 runs in 1 second(s)'
echo 'stat::number_of_executed_units: 34'
echo 'stat::new_units_added:          5'
PROGRAM
cat >"$folder/programs/fuzz_bad" <<'PROGRAM'
#!/bin/sh
for word; do case $word in -artifact_prefix=*) : >"${word#*=}crash-1" ;; esac; done
exit 77
PROGRAM
printf '#!/bin/sh\necho no such library >&2\nexit 127\n' >"$folder/programs/fuzz_unable"
chmod +x "$folder"/programs/*

all --only good >"$folder/table" 2>"$folder/err"
expect "nothing found" 0 $?
expect "row" "good 34 1 12 5 0" "$(tail -1 "$folder/table" | xargs)"
expect "starts from the corpus" 1 "$(grep -c -- "-max_total_time=1 .*$folder/corpus/good\$" "$folder/findings/good/log")"
all >"$folder/table" 2>"$folder/err"
expect "a crash" 1 $?
expect "crash row" "bad - - - - 1" "$(grep ^bad "$folder/table" | xargs)"
expect "unable row" "unable - - - - did not run: no such library" "$(grep ^unable "$folder/table" | xargs)"
all --only unable >/dev/null 2>&1
expect "could not run" 1 $?
all --only nothing >/dev/null 2>&1
expect "unknown target" 2 $?
bash "$SOURCE/tests/fuzz/all.sh" "$folder/programs" soon >/dev/null 2>&1
expect "seconds" 2 $?
[ $failures = 0 ] && echo ok
exit $((failures > 0))

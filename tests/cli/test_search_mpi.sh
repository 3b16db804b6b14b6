# Two MPI ranks give what one process gives; skipped where MPI is not installed.
set -u
program="$BINARY/bin/heptane-search-mpi"
[ -x "$program" ] && command -v mpirun >/dev/null || { echo "skipped: no MPI"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
run() { OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n "$@"; }
expect() { [ "$2" = "$3" ] || { echo "FAIL $1: wanted $2, got $3"; failures=$((failures + 1)); }; }

expect "two ranks" '{"complete":true,"schemes":288,"modulo2":36,"ranks":2}' "$(run 2 "$program" all 2 2 2 7 "$folder/state")"
expect "resumed" '{"complete":true,"schemes":288,"modulo2":36,"ranks":2}' "$(run 2 "$program" all 2 2 2 7 "$folder/state")"
"$HEPTANE" search --merge "$folder/state.1" "$folder/state.2" --json | grep -q '"orbits":3' || expect "merge" "3 orbits" other
expect "walks" '{"rank":7,"writes":7,"ranks":2}' "$(run 2 "$program" walk 2 2 2 7 writes 12 "$folder/best.json")"
"$HEPTANE" verify "$folder/best.json" >/dev/null
expect "verified" 0 $?
exit $((failures > 0))

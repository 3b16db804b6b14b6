#!/usr/bin/env bash
# Runs every fuzz target for some seconds, several at once, and prints a table of what came of it.
#   all.sh FOLDER SECONDS [AT-ONCE] [--corpus DIR] [--findings DIR] [--only NAME]...
# FOLDER holds the programs fuzz_NAME, or is a build folder with them in bin/. It, this script and the corpus are all that
# a machine needs; shared libraries that it lacks go into FOLDER/lib. Findings (default: ./findings) keeps, per target, the
# inputs that reached new code (the next run starts from them), the log, and the inputs that crash, hang or leak.
# Exit: 0 nothing found, 1 a crash or a target that could not run, 2 usage.
set -u

usage() {
    sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
    [ $# = 0 ] || echo "all.sh: $*" >&2
    exit 2
}

run_one() { # a target's name; $programs, $seconds, $corpus, $findings from the environment
    local own=$findings/$1 seeds=()
    mkdir -p "$own/inputs"
    [ -d "$corpus/$1" ] && seeds=("$corpus/$1")
    nice "$programs/fuzz_$1" -max_total_time="$seconds" -max_len=8192 -timeout=60 -print_final_stats=1 \
        -artifact_prefix="$own/" "$own/inputs" "${seeds[@]}" >"$own/log" 2>&1
    echo $? >"$own/exit"
}

print_row() { # a target's name; returns 1 if something was found
    local own=$findings/$1 crashes executions took coverage new
    # A crash that an earlier run kept is still there until somebody mends it and removes the file.
    crashes=$(find "$own" -maxdepth 1 \( -name 'crash-*' -o -name 'leak-*' -o -name 'timeout-*' -o -name 'oom-*' \) | wc -l)
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$own/log")
    new=$(sed -n 's/^stat::new_units_added: *//p' "$own/log")
    took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$own/log")
    coverage=$(grep -ao ' cov: [0-9]*' "$own/log" | tail -1 | tr -dc 0-9)
    [ "$crashes" = 0 ] && [ "$(cat "$own/exit")" != 0 ] && crashes="did not run: $(grep -av '^$' "$own/log" | tail -1)"
    printf '%-22s %11s %8s %9s %11s  %s\n' "$1" "${executions:--}" "${took:--}" "${coverage:--}" "${new:--}" "$crashes"
    [ "$crashes" = 0 ]
}

corpus=$(dirname "${BASH_SOURCE[0]}")/corpus
findings=findings
only=()
places=()
while [ $# -gt 0 ]; do
    case $1 in
    --corpus | --findings | --only)
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in --corpus) corpus=$2 ;; --findings) findings=$2 ;; --only) only+=("$2") ;; esac
        shift ;;
    -*) usage "unknown option $1" ;;
    *) places+=("$1") ;;
    esac
    shift
done
[ ${#places[@]} = 2 ] || [ ${#places[@]} = 3 ] || usage
programs=${places[0]}
seconds=${places[1]}
at_once=${places[2]:-$(nproc)}
for number in "$seconds" "$at_once"; do
    [[ $number =~ ^[1-9][0-9]*$ ]] || usage "SECONDS and AT-ONCE are positive numbers, not $number"
done
[ -d "$corpus" ] || usage "no corpus at $corpus (--corpus DIR)"
[ -d "$programs/lib" ] && export LD_LIBRARY_PATH=$programs/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# undefined behaviour counts as a crash: it would only print otherwise
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
[ -d "$programs/bin" ] && programs=$programs/bin

names=()
for program in "$programs"/fuzz_*; do
    [ -x "$program" ] && names+=("${program##*/fuzz_}")
done
[ ${#only[@]} -gt 0 ] && names=("${only[@]}")
[ ${#names[@]} -gt 0 ] || usage "no programs fuzz_NAME in $programs"
for name in "${names[@]}"; do
    [ -x "$programs/fuzz_$name" ] || usage "no program fuzz_$name in $programs"
done

mkdir -p "$findings" || exit 2
export programs seconds corpus findings
export -f run_one
printf '%s\n' "${names[@]}" | xargs -P "$at_once" -I NAME bash -c 'run_one NAME'

found=0
printf '%-22s %11s %8s %9s %11s  %s\n' target executions seconds coverage 'new inputs' crashes
for name in "${names[@]}"; do
    print_row "$name" || found=1
done
[ $found = 0 ] || echo "findings are in $findings/NAME, with the log" >&2
exit $found

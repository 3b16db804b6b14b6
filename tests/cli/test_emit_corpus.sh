#!/usr/bin/env bash
# Exact real schemes become kernels that compile without spills and without serialised wgmma: every third of the catalogue, with
# one type combination and one target each, in turn. HEPTANE_TEST_FULL=1 takes all of them, the corpus beside the source too;
# HEPTANE_TEST_FULL=all takes each for every target, which takes half an hour. One scheme per processor at a time.
set -u
combinations=("" "--in-type bf16 --out-type f32" "--in-type bf16 --forms bf16" "--trans-x --no-trans-y")
targets=()
for t in "$SOURCE"/templates/targets/*/target.lua; do targets+=("$(basename "$(dirname "$t")")"); done

compile() { # FOLDER FILE TARGET TYPES: one line, "compiled", "skipped: ..." or "FAILED ..."; none if it is not a scheme for this
  local out=$1 file=$2 target=$3 types=$4
  # shellcheck disable=SC2086
  if ! "$HEPTANE" emit "$file" --target "$target" -o "$out/op" --time-limit 0.3 $types >/dev/null 2>"$out/log"; then
    grep -qE 'not real|complex|over Q\(i\)|multiply real' "$out/log" || echo "FAILED to emit $file $target $types: $(cat "$out/log")"
    return
  fi
  "$HEPTANE" compile "$out/op" --target "$target" --json >"$out/json" 2>"$out/log"
  case $? in
    0) ;;
    5) echo "skipped: $(cat "$out/log")"; return ;;
    *) echo "FAILED to compile $file $target $types: $(head -c 600 "$out/log")"; return ;;
  esac
  grep -q '"spills":0,' "$out/json" && ! grep -q 'serialised":true' "$out/json" && echo compiled && return
  echo "FAILED: spills or serialised: $file $target $types: $(cat "$out/json")"
}

if [ "${1:-}" = --one ]; then # NUMBER FILE
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
  "$HEPTANE" verify "$3" --json >"$out/verdict" 2>/dev/null || exit 0 # refuted, undecided, part of another file
  grep -q '"ok":true' "$out/verdict" || exit 0
  grep -qE '"ring":"(Z|Q|Q\(sqrt[^"]*|Q\[x\][^"]*)"' "$out/verdict" || exit 0
  [ "${HEPTANE_TEST_FULL:-}" = all ] || targets=("${targets[$2 % ${#targets[@]}]}")
  for target in "${targets[@]}"; do
    rm -rf "$out/op"
    compile "$out" "$3" "$target" "${combinations[$2 / 4 % ${#combinations[@]}]}"
  done
  exit 0
fi

corpus="$SOURCE/../shared/schemes"
[ -n "${HEPTANE_TEST_FULL:-}" ] || corpus=
[ -z "$corpus" ] || [ -d "$corpus" ] || { echo "no corpus beside the source: only the catalogue is compiled"; corpus=; }
results=$(mktemp)
trap 'rm -f "$results"' EXIT
every=3
[ -n "${HEPTANE_TEST_FULL:-}" ] && every=1
{ find "$SOURCE/schemes" -name '*.json' | sort; [ -z "$corpus" ] || find "$corpus" -type f ! -path '*/tricky/*' -size -1000k | sort; } |
  awk -v every=$every 'NR % every == 1 || every == 1 {printf "%d%c%s%c", n++, 0, $0, 0}' |
  xargs -0 -n 2 -P "$(nproc)" bash "$0" --one >"$results"
grep -v '^compiled$' "$results" | sort -u
compiled=$(grep -c '^compiled$' "$results")
echo "$compiled operations compiled, $(grep -c '^FAILED' "$results") failed"
[ "$compiled" -gt 0 ] || ! grep -q '^skipped' "$results" || exit 77
[ "$compiled" -gt 0 ] && ! grep -q '^FAILED' "$results"

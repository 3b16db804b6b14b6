#!/usr/bin/env bash
# Exact real schemes become kernels that compile without spills and without serialised wgmma: every third of the catalogue, with
# one type combination and one target each, in turn. HEPTANE_TEST_FULL=1 takes all of them, the corpus beside the source too,
# for every target, which takes many minutes.
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
combinations=("" "--in-type bf16 --out-type f32" "--in-type bf16 --forms bf16" "--trans-x --no-trans-y")
corpus="$SOURCE/../shared/schemes"
[ -n "${HEPTANE_TEST_FULL:-}" ] || corpus=
[ -z "$corpus" ] || [ -d "$corpus" ] || { echo "no corpus beside the source: only the catalogue is compiled"; corpus=; }
all=()
for t in "$SOURCE"/templates/targets/*/target.lua; do all+=("$(basename "$(dirname "$t")")"); done

number=0 compiled=0 failed=0 seen=0
while read -r file; do
  seen=$((seen + 1))
  [ -n "${HEPTANE_TEST_FULL:-}" ] || [ $((seen % 3)) -eq 1 ] || continue
  "$HEPTANE" verify "$file" --json >"$out/verdict" 2>/dev/null || continue # refuted, undecided, part of another file
  grep -q '"ok":true' "$out/verdict" || continue
  grep -qE '"ring":"(Z|Q|Q\(sqrt[^"]*|Q\[x\][^"]*)"' "$out/verdict" || continue
  types=${combinations[number % ${#combinations[@]}]}
  targets=("${all[number % ${#all[@]}]}")
  [ -n "${HEPTANE_TEST_FULL:-}" ] && targets=("${all[@]}")
  number=$((number + 1))
  for target in "${targets[@]}"; do
    rm -rf "$out/op"
    # shellcheck disable=SC2086
    if ! "$HEPTANE" emit "$file" --target "$target" -o "$out/op" --time-limit 0.3 $types >/dev/null 2>"$out/log"; then
      grep -qE 'not real|complex|over Q\(i\)|multiply real' "$out/log" && continue
      echo "FAILED to emit $file $target $types: $(cat "$out/log")"; failed=$((failed + 1)); continue
    fi
    "$HEPTANE" compile "$out/op" --target "$target" --json >"$out/json" 2>"$out/log"
    case $? in
      0) ;;
      5) echo "skipped: $(cat "$out/log")"; exit 77 ;;
      *) echo "FAILED to compile $file $target $types: $(head -c 600 "$out/log")"; failed=$((failed + 1)); continue ;;
    esac
    compiled=$((compiled + 1))
    grep -q '"spills":0,' "$out/json" && ! grep -q 'serialised":true' "$out/json" && continue
    echo "FAILED: spills or serialised: $file $target $types: $(cat "$out/json")"; failed=$((failed + 1))
  done
done < <(find "$SOURCE/schemes" -name '*.json' | sort; [ -z "$corpus" ] || find "$corpus" -type f ! -path '*/tricky/*' -size -1000k | sort)
echo "$compiled operations of $number schemes compiled, $failed failed"
[ $compiled -gt 0 ] && [ $failed -eq 0 ]

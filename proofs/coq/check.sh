#!/bin/sh
# Checks the Coq proofs: compiles the files that _CoqProject lists, in its order, and
# requires that each "Print Assumptions" of the last one answers that nothing is assumed,
# and that coqchk, if installed, confirms it on the compiled files.
# Usage: check.sh SOURCE_FOLDER WORK_FOLDER. $COQC names the compiler; exit 77: it is absent.
set -eu
source=$1
work=$2
coqc=${COQC:-coqc}

if ! command -v "$coqc" >/dev/null 2>&1; then
  echo "skipped: coqc is not installed, the Coq proofs are not checked"
  exit 77
fi
fail() {
  echo "proofs/coq: $1" >&2
  exit 1
}

mkdir -p "$work"
files=$(grep '\.v$' "$source/_CoqProject")
for file in $files; do
  cp "$source/$file" "$work/$file"
done
cd "$work"
# shellcheck disable=SC2086 # a list of plain names
if grep -nwE 'Admitted|admit|Axiom|Axioms|Conjecture|Parameter|Parameters|give_up|Unset' $files; then
  fail "the words above have no place in a finished proof"
fi
for file in $files; do
  last=$file
  "$coqc" -Q . Heptane "$file" >"$file.log" 2>&1 || {
    cat "$file.log" >&2
    fail "$file does not compile"
  }
done

asked=$(grep -c '^Print Assumptions' "$last" || true)
closed=$(grep -cx 'Closed under the global context' "$last.log" || true)
lines=$(wc -l <"$last.log")
if [ "$asked" -lt 1 ] || [ "$closed" -ne "$asked" ] || [ "$lines" -ne "$asked" ]; then
  cat "$last.log" >&2
  fail "$closed of $asked statements are proved without assumptions"
fi

# A second opinion, from Coq's stand-alone checker of compiled files.
if command -v "${COQCHK:-coqchk}" >/dev/null 2>&1; then
  if ! "${COQCHK:-coqchk}" -silent -o -Q . Heptane "Heptane.${last%.v}" >checked.log 2>&1 ||
    ! grep -q 'Axioms: <none>' checked.log; then
    cat checked.log >&2
    fail "coqchk does not confirm"
  fi
fi
echo "$asked statements proved, nothing assumed"

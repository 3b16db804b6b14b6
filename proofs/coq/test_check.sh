#!/bin/sh
# check.sh must refuse what is not proved. Usage: test_check.sh SOURCE_FOLDER WORK_FOLDER.
set -eu
check=$1/check.sh
work=$2
command -v "${COQC:-coqc}" >/dev/null 2>&1 || {
  echo "skipped: coqc is not installed"
  exit 77
}

# expect STATUS NAME PATTERN: check.sh on the Coq text on standard input.
expect() {
  rm -rf "${work:?}/${2:?}"
  mkdir -p "$work/$2"
  cat >"$work/$2/Last.v"
  echo Last.v >"$work/$2/_CoqProject"
  status=0
  sh "$check" "$work/$2" "$work/$2/out" >"$work/$2/log" 2>&1 || status=$?
  if [ "$status" -ne "$1" ] || ! grep -q "$3" "$work/$2/log"; then
    echo "$2: exit status $status, expected $1 with '$3':"
    cat "$work/$2/log"
    exit 1
  fi
}

expect 0 proved '1 statements proved' <<'V'
Theorem t : True. Proof. exact I. Qed.
Print Assumptions t.
V
expect 1 admitted 'no place in a finished proof' <<'V'
Theorem t : False. Proof. Admitted.
Print Assumptions t.
V
expect 1 variable '0 of 1 statements' <<'V'
Variable t : False.
Print Assumptions t.
V
expect 1 one-of-two '1 of 2 statements' <<'V'
Require Import Classical.
Theorem t : True. Proof. exact I. Qed.
Theorem u : forall P : Prop, P \/ ~ P. Proof. exact classic. Qed.
Print Assumptions t.
Print Assumptions u.
V
expect 1 wrong 'does not compile' <<'V'
Theorem t : False. Proof. exact I. Qed.
Print Assumptions t.
V
expect 1 nothing-asked '0 of 0 statements' <<'V'
Theorem t : True. Proof. exact I. Qed.
V
echo "check.sh refuses five kinds of unproved statements"

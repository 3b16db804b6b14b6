#!/bin/bash
# Writes a certificate for every scheme over Z or Q of the catalogue whose chaining is proved minimal within the limit.
# usage: make.sh HEPTANE [SECONDS]      run in the source tree; existing certificates that still hold are kept
set -eu
heptane=$1
seconds=${2:-60}
cd "$(dirname "$0")"
for scheme in ../../schemes/*/*.json; do
    grep -q '"ring": "[ZQ]"' "$scheme" || continue
    name=$(basename "$(dirname "$scheme")")-$(basename "$scheme" .json)
    [ -f "$name.cert" ] && [ "$name.cert" -nt "$scheme" ] && continue
    if "$heptane" chain "$scheme" --prove --time-limit "$seconds" --certificate "$name.new" >/dev/null 2>&1; then
        mv "$name.new" "$name.cert"
    else
        rm -f "$name.new"
        echo "no proof: $scheme"
    fi
done

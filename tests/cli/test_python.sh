#!/usr/bin/env bash
# The Python module, its PyTorch layers and models of transformers where python3 (or $PYTHON) has them: on the emulator, and on a
# GPU if there is one.
set -euo pipefail
{ "$HEPTANE" doctor || true; } | grep -q '^ok *NVRTC' || { echo "skipped: no NVRTC"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE XDG_CACHE_HOME="$folder" PYTHONPATH="$SOURCE/runtime/python" HEPTANE_LIBRARY="$BINARY/lib/libheptane_rt.so"
export PYTHONDONTWRITEBYTECODE=1
python=${PYTHON:-python3}
for test in layers torch models gguf; do
  "$python" "$SOURCE/tests/python/test_$test.py" || [ $? = 77 ]
done
# the script for the device, at a tiny size
if "$python" -c 'import torch, transformers' 2>/dev/null; then
  "$python" "$SOURCE/tests/device/decoder.py" --tiny --out "$folder/decoder"
  grep -q '"heptane": {' "$folder/decoder.json"
fi

#!/usr/bin/env bash
# The Python module on the emulator, and its PyTorch layers where there are PyTorch and a GPU.
set -euo pipefail
{ "$HEPTANE" doctor || true; } | grep -q '^ok *NVRTC' || { echo "skipped: no NVRTC"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE XDG_CACHE_HOME="$folder" PYTHONPATH="$SOURCE/runtime/python" HEPTANE_LIBRARY="$BINARY/lib/libheptane_rt.so"
export PYTHONDONTWRITEBYTECODE=1
python3 "$SOURCE/tests/python/test_layers.py"
python3 "$SOURCE/tests/python/test_torch.py" || [ $? = 77 ]

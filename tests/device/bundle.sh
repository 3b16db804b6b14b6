#!/usr/bin/env bash
# Collects what the device suite needs into one folder that runs on a bare machine (x86-64, glibc of this one or newer, CUDA
# with libnvrtc and a driver): the command, the device tests' programs, their shared libraries, templates, catalogue, scripts,
# the Python module.
# Usage: tests/device/bundle.sh [FOLDER]      default .carry, made anew
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.carry}
binary=${HEPTANE:-$root/build/bin/heptane}
[ -x "$binary" ] || { echo "bundle: $binary is not there; build first." >&2; exit 4; }

# every library that a file loads and that is not part of the C library itself
others() {
  ldd "$1" | awk '$3 ~ /^\// {print $3}' | grep -Ev '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so'
}

rm -rf "$out"
mkdir -p "$out/lib"
programs="heptane device_api agree test_emulator_async test_emulator_simt"
for program in $programs; do
  cp "$(dirname "$binary")/$program" "$out/$program.bin"
  others "$out/$program.bin" | while read -r file; do cp -Lu "$file" "$out/lib/"; done
done
strip "$out"/*.bin
cp -r "$root/templates" "$root/schemes" "$out/"
mkdir -p "$out/tests"
cp "$root"/tests/device/*.py "$root"/tests/bench/*.sh "$root"/tests/bench/*.py "$root"/tests/python/*.py "$out/tests/"
# the module with the library that it loads, and what that one loads, found beside it
mkdir -p "$out/python"
cp -r "$root/runtime/python/heptane" "$out/python/"
rm -rf "$out/python/heptane/__pycache__"
library=${HEPTANE_LIBRARY:-$(dirname "$binary")/../lib/libheptane_rt.so}
strip -o "$out/python/heptane/libheptane_rt.so" "$library"
others "$library" | while read -r file; do cp -L "$file" "$out/python/heptane/"; done
# no patchelf needed: a launcher sets the path for its own libraries only. The program finds its data by /proc/self/exe.
for program in $programs; do
  cat > "$out/$program" <<LAUNCHER
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
LD_LIBRARY_PATH="\$here/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" exec "\$here/$program.bin" "\$@"
LAUNCHER
  chmod +x "$out/$program"
done
cat > "$out/python3" <<'LAUNCHER'
#!/bin/sh
# python3 with the module, which makes operations with the command beside it
here=$(cd "$(dirname "$0")" && pwd)
HEPTANE="$here/heptane" HEPTANE_LIBRARY="$here/python/heptane/libheptane_rt.so" PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python3}" "$@"
LAUNCHER
chmod +x "$out/python3"
du -sh "$out"
"$out/heptane" version

#!/usr/bin/env bash
# Collects what the device suite needs into one folder that runs on a bare machine (x86-64, glibc of this one or newer, CUDA
# with libnvrtc and a driver): the command, its shared libraries, templates, catalogue, scripts.
# Usage: tests/device/bundle.sh [FOLDER]      default .carry, made anew
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/.carry}
binary=${HEPTANE:-$root/build/bin/heptane}
[ -x "$binary" ] || { echo "bundle: $binary is not there; build first." >&2; exit 4; }

rm -rf "$out"
mkdir -p "$out/lib"
cp "$binary" "$out/heptane.bin"
cp "$(dirname "$binary")/device_api" "$out/device_api.bin"
strip "$out"/*.bin
# every library that is not part of the C library itself
ldd "$binary" | awk '$3 ~ /^\// {print $3}' | grep -Ev '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$out/lib/"; done
cp -r "$root/templates" "$root/schemes" "$out/"
mkdir -p "$out/tests"
cp "$root"/tests/device/*.py "$root"/tests/bench/*.sh "$root"/tests/bench/*.py "$out/tests/"
# no patchelf needed: a launcher sets the path for its own libraries only. The program finds its data by /proc/self/exe.
for program in heptane device_api; do
  cat > "$out/$program" <<LAUNCHER
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
LD_LIBRARY_PATH="\$here/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" exec "\$here/$program.bin" "\$@"
LAUNCHER
  chmod +x "$out/$program"
done
du -sh "$out"
"$out/heptane" version

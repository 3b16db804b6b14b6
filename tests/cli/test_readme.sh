#!/usr/bin/env bash
# The README's tutorial as it stands: its scheme file, its commands, and the output that it shows.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HEPTANE_CACHE=$folder/cache PATH=$(dirname "$HEPTANE"):$PATH
mkdir -p "$folder/build/bin"
ln -s "$BINARY/bin/example_gemm" "$folder/build/bin/"
"$HEPTANE" doctor | grep '^ok *NVRTC' >/dev/null || { echo "skipped: no NVRTC"; exit 77; }
# two of its commands run kernels, which must be the emulator's here
export HEPTANE_LIBCUDA=/none
python3 - "$SOURCE/README.md" "$folder" <<'PY'
import re, subprocess, sys
text = open(sys.argv[1]).read()
tutorial = text[text.index("## From a scheme file"):text.index("## How it works")]
blocks = re.findall(r"(?:^    .*\n)+", tutorial, re.M)
open(sys.argv[2] + "/winograd.txt", "w").write("".join(line[4:] + "\n" for line in blocks[0].splitlines()))
commands = 0
for block in blocks[1:]:
    lines = [line[4:] for line in block.splitlines()]
    command, shown = None, []
    for line in lines + ["$ "]:
        if not line.startswith(("$ ", "build/bin/")):
            shown.append(line)
            continue
        if command:
            done = subprocess.run(command, shell=True, cwd=sys.argv[2], capture_output=True, text=True)
            got = " ".join((done.stdout + done.stderr).split())
            for part in "\n".join(shown).split("..."):
                part = " ".join(re.sub(r"  +# .*", "", part).split())
                assert part in got, f"{command}\nshows: {part}\nbut prints: {got}"
            commands += 1
        command, shown = line.removeprefix("$ "), []
assert commands >= 7, commands
print(f"{commands} commands print what the README shows")
PY

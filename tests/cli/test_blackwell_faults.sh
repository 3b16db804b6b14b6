# The emulator as referee of the Blackwell kernel: each step that keeps it right is taken out in turn, and must be missed.
set -u
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$HEPTANE" emit seven-write --target sm_100a --plan stages=3 -o "$folder/right" >/dev/null || exit 1
python3 - "$HEPTANE" "$folder" <<'CHECK'
import os, shutil, subprocess, sys

heptane, folder = sys.argv[1:]
source = open(folder + "/right/gemm/kernel.cu").read()
# what is left out or changed: (text, replacement, finding)
changes = {
    "wait for a full slot": ("barrier_wait(full + 8 * slot, parity);", "", "unwritten-read|missing-wait"),
    "wait for an empty slot": ("barrier_wait(empty + 8 * slot, parity);", "", "missing-wait|phase"),
    "commit of a slot": ("mma_commit(empty + 8 * slot);", "", "deadlock"),
    "wait for a drained accumulator": (
        "barrier_wait_cluster(drained + 8 * number, (drain_parity >> number) & 1);", "", "accumulator-in-flight"),
    "fence behind the wait for an accumulator": (
        "tensor_fence_after();\n                parity ^=", "parity ^=", "accumulator-in-flight"),
    "wait::ld": ("tensor_load_wait(value);", "", "accumulator-in-flight"),
    "fence before handing an accumulator back": (
        "tensor_fence_before();\n                        if ((thread", "if ((thread", "accumulator-in-flight"),
    "draining all columns first": ("if (column + BOX_COLUMNS == TILE_N)", "if (column == 0)", "accumulator-in-flight"),
    "wait for the staging box": ("if (thread == 0) tma_wait_read<BOXES - 1>();", "", "missing-wait"),
    "proxy fence": ("shared_writes_to_tma();\n                        drainers_sync();", "drainers_sync();", "missing-proxy-fence"),
    "meeting before the store": (
        "shared_writes_to_tma();\n                        drainers_sync();", "shared_writes_to_tma();", "missing-wait|unwritten-read"),
    "store before add": ("if (thread == 0) tma_wait_written();\n", "\n", "unordered-writes"),
    "version of the descriptor": (" | (1ull << 46) | (2ull << 61)", " | (1ull << 62)", "descriptor"),
    "lanes of a warp": ("((u32)(warp & 3) << 21)", "((u32)(~warp & 3) << 21)", "out-of-bounds"),
    "giving tensor memory back": ("if (warp == 2) tensor_free<COLUMNS>(tensor);", "", "leak"),
}
failures = 0


def run(text):
    trial = folder + "/trial"
    shutil.rmtree(trial, ignore_errors=True)
    shutil.copytree(folder + "/right", trial)
    open(trial + "/gemm/kernel.cu", "w").write(text)
    done = subprocess.run([heptane, "run", trial, "-m", "300", "-n", "304", "-k", "400", "--backend", "emulator", "--target",
                           "sm_100a"], capture_output=True, text=True, env=dict(os.environ, HEPTANE_CACHE=folder + "/cache"))
    return done.returncode, done.stdout + done.stderr


code, output = run(source)
if code == 5:
    print("skipped:", output.strip())
    sys.exit(77)
if code:
    sys.exit("the kernel itself fails: " + output)
for name, (old, new, finding) in changes.items():
    if old not in source:
        sys.exit("the kernel has no longer: " + old)
    code, output = run(source.replace(old, new, 1))
    if code == 0 or not any(word in output for word in finding.split("|")):
        failures += 1
        print(f"FAIL without {name}: exit {code}, wanted {finding}: {output[:300]}")
sys.exit(failures > 0)
CHECK

#!/usr/bin/env python3
"""What Heptane's MLPs do to a real model: perplexity of SmolLM2-135M-Instruct on the King James Version, with rank 7 forced.

  tests/device/perplexity_data.sh                        gets the model and the text, in pieces, into .data
  tests/device/perplexity.py --data .data                all variants; perplexity.json and perplexity.md are written
  tests/device/perplexity.py --tokens 512 --context 256 --layers 2 --backend emulator --variants f32,bf16,bf16+heptane

Windows of --context tokens that do not overlap, each token but a window's first predicted from those before it; no token marks
the text's beginning. Changes are relative to the model in f32 (TF32 off). Needs PyTorch, transformers and NumPy. Exit code: 0 if every variant with Heptane keeps
the bound, 1 if not, 4 if the data are not there.
"""
import argparse
import copy
import glob
import json
import lzma
import math
import os
import sys
import time

import torch

import gguf
import heptane
import llama_gguf

BOUND = 3e-4  # relative change of perplexity


class InType(torch.nn.Module):
    """An MLP computed in another type than the model around it."""

    def __init__(self, mlp, dtype):
        super().__init__()
        self.mlp, self.dtype = mlp, dtype

    def forward(self, x):
        return self.mlp(x.to(self.dtype)).to(x.dtype)


def plain_mlps(dtype):
    def replace(model, options):
        for layer in model.model.layers:
            layer.mlp = InType(layer.mlp.to(dtype), dtype)
    return replace


def heptane_mlps(dtype):
    def replace(model, options):
        for layer in model.model.layers:
            parts = [getattr(layer.mlp, name).weight.to(dtype) for name in ("gate_proj", "up_proj", "down_proj")]
            layer.mlp = InType(heptane.MLP.from_torch(*parts, **options), dtype)
    return replace


def fused_mlps(model, options):
    heptane.replace_mlps(model, **options)


VARIANTS = {  # name: type of the model, what is done to its MLPs, whether the bound is for it
    "f32": (torch.float32, None, False),
    "bf16": (torch.bfloat16, None, False),
    "bf16+heptane": (torch.bfloat16, fused_mlps, True),
    "f16": (torch.float16, None, False),
    "f16+heptane": (torch.float16, fused_mlps, True),
    "f32, MLPs bf16": (torch.float32, plain_mlps(torch.bfloat16), False),
    "f32, MLPs f16+heptane": (torch.float32, heptane_mlps(torch.float16), True),
}


def unpacked(folder, name):
    pieces = sorted(glob.glob(os.path.join(folder, name + "*")))
    if not pieces:
        sys.exit("perplexity.py: %s is not in %s; run tests/device/perplexity_data.sh." % (name, folder))
    return lzma.decompress(b"".join(open(piece, "rb").read() for piece in pieces))


def load(args):
    metadata, tensors = gguf.parse(unpacked(args.data, "smollm2.gguf.xz"), "smollm2.gguf")
    model = llama_gguf.model(metadata, tensors)
    if args.layers:
        model.model.layers = model.model.layers[:args.layers]
        model.config.num_hidden_layers = args.layers
    ids = llama_gguf.tokenizer(metadata).encode(unpacked(args.data, "kjv.txt.xz").decode()).ids
    count = min(len(ids), args.tokens or len(ids)) // args.context
    if not count:
        sys.exit("perplexity.py: the text has no whole window of %d tokens" % args.context)
    return model, torch.tensor(ids[:count * args.context]).reshape(count, args.context)


@torch.no_grad()
def losses(model, windows, batch):
    """The negative log likelihood of every predicted token."""
    found = []
    for some in windows.split(batch):
        logits = model(some, use_cache=False).logits
        for row, ids in zip(logits, some):
            found.append(torch.nn.functional.cross_entropy(row[:-1].float(), ids[1:], reduction="none").double().cpu())
    return torch.cat(found)


def measure(model, windows, name, args):
    dtype, replace, bounded = VARIANTS[name]
    device = "cpu" if args.backend else "cuda"
    model = copy.deepcopy(model).to(device, dtype)
    options = {"threshold": 1, "scheme": args.scheme, "forms": "f16"}
    if args.backend:
        options["backend"] = args.backend
    if replace:
        replace(model, options)
    start = time.time()
    loss = losses(model, windows.to(device), args.batch)
    left = [number for number, layer in enumerate(model.model.layers) for part in layer.modules()
            if isinstance(part, heptane.MLP) and part.overflowed()]
    return {"variant": name, "perplexity": math.exp(loss.mean().item()), "loss": loss, "bounded": bounded, "overflowed_layers": left,
            "seconds": time.time() - start}


def compare(row, reference):
    """The change, and the standard error of its estimate from the tokens' own changes."""
    change = row["loss"] - reference["loss"]
    row["change"] = math.expm1(change.mean().item())
    row["change_error"] = (change.std() / change.numel() ** 0.5).item()
    row["ok"] = not row["overflowed_layers"] and (not row["bounded"] or abs(row["change"]) <= BOUND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=".data")
    parser.add_argument("--tokens", type=int, default=0, help="of the text, from its beginning; 0: all")
    parser.add_argument("--context", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=4, help="windows at a time")
    parser.add_argument("--layers", type=int, default=0, help="the first so many layers alone, for a trial")
    parser.add_argument("--scheme", default="seven-write")
    parser.add_argument("--backend", choices=["emulator"], help="without a GPU")
    parser.add_argument("--variants", default=";".join(VARIANTS), help="names, separated by ; or , (f32 is always there)")
    parser.add_argument("--out", default="perplexity")
    args = parser.parse_args()
    names = [name.strip() for name in args.variants.split(";" if ";" in args.variants else ",")]
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        parser.error("no variant %s; there are %s" % (unknown[0], "; ".join(VARIANTS)))
    torch.backends.cuda.matmul.allow_tf32 = False
    model, windows = load(args)
    print("%d windows of %d tokens" % windows.shape, flush=True)
    rows = []
    for name in ["f32"] + [name for name in names if name != "f32"]:
        rows.append(measure(model, windows, name, args))
        compare(rows[-1], rows[0])
        print("%-22s %.5f  change %+.4f %% +- %.4f %%  %s%s  %.1f s" % (
            name, rows[-1]["perplexity"], 100 * rows[-1]["change"], 100 * rows[-1]["change_error"], "ok" if rows[-1]["ok"] else "NOT OK",
            "  out of f16's range in layers %s" % rows[-1]["overflowed_layers"] if rows[-1]["overflowed_layers"] else "",
            rows[-1]["seconds"]), flush=True)
    write(rows, windows, args)
    sys.exit(0 if all(row["ok"] for row in rows) else 1)


def write(rows, windows, args):
    for row in rows:
        del row["loss"]
    device = torch.cuda.get_device_name() if not args.backend else args.backend
    with open(args.out + ".json", "w") as file:
        json.dump({"model": "SmolLM2-135M-Instruct, Q4_1", "text": "King James Version", "windows": windows.shape[0], "context": args.context,
                   "scheme": args.scheme, "device": device, "torch": torch.__version__, "rows": rows}, file, indent=1)
    with open(args.out + ".md", "w") as file:
        file.write("| model | perplexity | change against f32 | standard error |\n| --- | --- | --- | --- |\n")
        for row in rows:
            file.write("| %s | %.5f | %+.4f %% | %.4f %% |\n" % (row["variant"], row["perplexity"], 100 * row["change"], 100 * row["change_error"]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A decoder stack of transformers (random weights, bf16) as it is, against the same with heptane.replace_mlps: times and errors.

  tests/device/decoder.py                                Qwen3's class, H 5120, I 17408, 4 layers, 8192 tokens
  tests/device/decoder.py --family Llama --hidden 4096 --intermediate 14336 --heads 32
  tests/device/decoder.py --tiny                         everything at a tiny size, on the emulator where there is no GPU

Both are in one process, eager and under torch.compile, and so is the MLP by itself (norm, MLP and residual). Times are medians after
2 s of load; "in turns" the two take turns, "alone" each runs by itself. Errors are relative Frobenius norms against the same model in
f32 (TF32 off). decoder.json and decoder.md are written. Exit code: 0 if the eager stack is at least --least times faster and no
less accurate, 1 if not.
"""
import argparse
import copy
import json
import statistics
import sys
import time
import warnings

import torch
import transformers

import heptane

TINY = dict(hidden=64, intermediate=96, heads=2, kv_heads=1, layers=2, tokens=24, vocab=100, load=0.0, rounds=2, least=0.0)


def build(args):
    config = getattr(transformers, args.family + "Config")(
        hidden_size=args.hidden, intermediate_size=args.intermediate, num_hidden_layers=args.layers, num_attention_heads=args.heads,
        num_key_value_heads=args.kv_heads, head_dim=args.hidden // args.heads, vocab_size=args.vocab, bos_token_id=0, eos_token_id=1,
        pad_token_id=0, max_position_embeddings=max(args.tokens, 64), attn_implementation="sdpa", use_cache=False,
        initializer_range=args.hidden ** -0.5)  # so that every part matters
    torch.manual_seed(1)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device(args.device):
            model = getattr(transformers, args.family + "ForCausalLM")(config).eval()
    finally:
        torch.set_default_dtype(before)
    return model.requires_grad_(False)


def error(got, want):
    """By rows, so that no second copy in double is needed."""
    difference = norm = 0.0
    for g, w in zip(got.flatten(0, -2).split(512), want.flatten(0, -2).split(512)):
        difference += (g.double() - w.double()).square().sum().item()
        norm += w.double().square().sum().item()
    return (difference / norm) ** 0.5


class Stopwatch:
    """Milliseconds of calls, by events on a GPU."""

    def __init__(self, device):
        self.gpu = device == "cuda"

    def one(self, call):
        if not self.gpu:
            start = time.perf_counter()
            call()
            return 1e3 * (time.perf_counter() - start)
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def load(self, calls, seconds):
        """Until clocks and temperature are those of steady work."""
        for call in calls:
            call()
        end = time.time() + seconds
        while time.time() < end:
            for call in calls:
                self.one(call)

    def turns(self, calls, seconds, rounds):
        self.load(calls, seconds)
        samples = [[] for _ in calls]
        for _ in range(rounds):
            for call, kept in zip(calls, samples):
                kept.append(self.one(call))
        return samples


def compare(name, plain, ours, args):
    """Both in turns and alone."""
    watch = Stopwatch(args.device)
    turns = watch.turns([plain, ours], args.load, args.rounds)
    alone = [watch.turns([call], args.load, args.rounds)[0] for call in (plain, ours)]
    a, b = map(statistics.median, turns)
    c, d = map(statistics.median, alone)
    row = {"what": name, "baseline_ms": a, "ms": b, "ratio": a / b, "baseline_own_ms": c, "own_ms": d, "ratio_own": c / d,
           "samples": {"turns": turns, "alone": alone}}
    print("%-15s %9.3f ms -> %9.3f ms  ratio %.3f in turns, %.3f alone" % (name, a, b, row["ratio"], row["ratio_own"]), flush=True)
    return row


def accuracy(plain, ours, ids, args):
    """Hidden states after the last norm and logits of both against f32."""
    exact = copy.deepcopy(plain).float()
    want = exact.model(ids).last_hidden_state
    errors = {}
    for name, model in (("bf16", plain), ("heptane", ours)):
        hidden = model.model(ids).last_hidden_state
        errors[name] = {"hidden": error(hidden, want), "logits": error(model.lm_head(hidden), exact.lm_head(want))}
        print("%-8s hidden states %.2e, logits %.2e" % (name, errors[name]["hidden"], errors[name]["logits"]), flush=True)
    errors["overflowed"] = any(layer.mlp.overflowed() for layer in ours.model.layers)
    return errors


def block(model, ours, args):
    """One layer's norm, MLP and residual sums, as the layer calls them."""
    x, residual = (torch.randn(1, args.tokens, args.hidden, device=args.device).to(torch.bfloat16) for _ in range(2))
    layer, replaced = model.model.layers[0], ours.model.layers[0]

    def plain():
        total = residual + x
        return total + layer.mlp(layer.post_attention_layernorm(total))

    return plain, lambda: replaced.mlp.added(x, residual)


def compiled_row(plain, ours, ids, args):
    """The compiler may not work on a machine: then the row says why, and the rest is still measured."""
    try:
        pair = [torch.compile(model.model, backend="inductor" if args.device == "cuda" else "aot_eager") for model in (plain, ours)]
        return compare("stack, compiled", *(lambda m=m: m(ids) for m in pair), args)
    except Exception as caught:
        print("stack, compiled: %s" % str(caught)[:300], flush=True)
        return {"what": "stack, compiled", "failed": str(caught)[:1000]}


def write(result, args):
    with open(args.out + ".json", "w") as file:
        json.dump(result, file, indent=1)
    lines = ["| class | H | I | layers | T | what | plain ms | with Heptane ms | ratio in turns | alone | hidden error, bf16 | with Heptane |",
             "|" + " --- |" * 12]
    errors = result["errors"]
    for row in result["rows"]:
        if "failed" not in row:
            lines.append("| %s | %d | %d | %d | %d | %s | %.3f | %.3f | %.3f | %.3f | %.2e | %.2e |" % (
                args.family, args.hidden, args.intermediate, args.layers, args.tokens, row["what"], row["baseline_ms"], row["ms"],
                row["ratio"], row["ratio_own"], errors["bf16"]["hidden"], errors["heptane"]["hidden"]))
    with open(args.out + ".md", "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", default="Qwen3", choices=["Llama", "Mistral", "Qwen2", "Qwen3"])
    for name, value in (("hidden", 5120), ("intermediate", 17408), ("layers", 4), ("tokens", 8192), ("heads", 40), ("kv-heads", 8),
                        ("vocab", 32768), ("rounds", 30)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--scheme", default="seven-write")
    parser.add_argument("--threshold", type=int, help="tokens from which the scheme is taken (default: as a layer does)")
    parser.add_argument("--load", type=float, default=2.0, help="seconds of load before each timing")
    parser.add_argument("--least", type=float, default=1.03, help="the ratio that is asked for")
    parser.add_argument("--tiny", action="store_true", help="a trial at a tiny size")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--out", default="decoder")
    args = parser.parse_args()
    if args.tiny:
        vars(args).update(TINY, threshold=1)
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.device == "cpu" and not args.tiny:
        parser.error("there is no GPU; --tiny tries everything on the emulator")
    return args


@torch.no_grad()
def main():
    args = arguments()
    warnings.simplefilter("ignore")
    torch.backends.cuda.matmul.allow_tf32 = False
    plain = build(args)
    ours = copy.deepcopy(plain)
    start = time.time()
    heptane.replace_mlps(ours, threshold=args.threshold, scheme=args.scheme, forms="f16",
                         **({} if args.device == "cuda" else {"backend": "emulator"}))
    print("prepared in %.1f s" % (time.time() - start), flush=True)
    ids = torch.randint(2, args.vocab, (1, args.tokens), device=args.device)
    errors = accuracy(plain, ours, ids, args)
    if args.device == "cuda":
        torch.cuda.empty_cache()
    rows = [compare("stack", lambda: plain.model(ids), lambda: ours.model(ids), args),
            compare("MLP by itself", *block(plain, ours, args), args)]
    if not args.no_compile:
        rows.append(compiled_row(plain, ours, ids, args))
    settings = {key: value for key, value in vars(args).items() if key != "out"}
    write({"settings": settings, "device": torch.cuda.get_device_name() if args.device == "cuda" else "emulator", "torch": torch.__version__,
           "transformers": transformers.__version__, "errors": errors, "rows": rows}, args)
    good = rows[0]["ratio"] >= args.least and not errors["overflowed"] and errors["heptane"]["hidden"] <= 1.05 * errors["bf16"]["hidden"]
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

"""tests/device/gguf.py on files made here: blocks against their definition, element by element; a model of transformers written and
read back. Skipped without NumPy; the model's part without transformers."""
import os
import struct
import sys

try:
    import numpy
except ImportError:
    print("skipped: no NumPy")
    sys.exit(77)
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../device")]
import gguf

rng = numpy.random.default_rng(1)


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    """Type and bytes of a metadata value."""
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v, list):
        return struct.pack("<I", 9) + value(v[0])[:4] + struct.pack("<Q", len(v)) + b"".join(value(e)[4:] for e in v)
    return struct.pack("<If", 6, v) if isinstance(v, float) else struct.pack("<II", 4, v)


def written(metadata, tensors):
    """tensors: name -> (shape, type, bytes)"""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    head += b"".join(text(key) + value(v) for key, v in metadata.items())
    body = b""
    for name, (shape, kind, data) in tensors.items():
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack("<%dQ" % len(shape), *shape[::-1]) + struct.pack("<IQ", kind, len(body))
        body += data + bytes(-len(data) % 32)
    return head + bytes(-len(head) % 32) + body


def check_blocks():
    def half(x):
        return struct.unpack("<e", struct.pack("<e", x))[0]
    want8, want4, data8, data4 = [], [], b"", b""
    for _ in range(6):
        d, m = half(rng.normal()), half(rng.normal())
        q = [int(v) for v in rng.integers(-128, 128, 32)]
        data8 += struct.pack("<e32b", d, *q)
        want8 += [d * v for v in q]
        q = [int(v) for v in rng.integers(0, 16, 32)]
        data4 += struct.pack("<ee16B", d, m, *(q[k] | q[k + 16] << 4 for k in range(16)))
        want4 += [d * v + m for v in q]
    metadata = {"a.number": 7, "a.real": 0.5, "a.word": "häptane", "a.list": ["x", "y z"]}
    data = written(metadata, {"eight": ((3, 64), 8, data8), "four": ((2, 96), 3, data4), "one": ((5,), 0, struct.pack("<5f", *range(5)))})
    got, tensors = gguf.parse(data)
    assert got == metadata, got
    assert tensors["eight"].shape == (3, 64) and numpy.allclose(tensors["eight"].ravel(), want8, rtol=1e-6)
    assert tensors["four"].shape == (2, 96) and numpy.allclose(tensors["four"].ravel(), want4, rtol=1e-6, atol=1e-6)
    assert list(tensors["one"]) == [0, 1, 2, 3, 4]
    for wrong, words in ((data[:60], "ends within"), (data[:-64], "behind the end"), (b"GGML" + data[4:], "no GGUF"),
                         (written({}, {"t": ((1, 32), 77, bytes(32))}), "type 77"), (written({}, {"t": ((1, 40), 8, bytes(68))}), "blocks")):
        try:
            gguf.parse(wrong)
        except gguf.Malformed as caught:
            assert words in str(caught), caught
        else:
            raise AssertionError("taken: " + words)


def check_model():
    import llama_gguf
    import torch
    tokens = ["<|end|>", "a", "b", "c", "Ġ", "ab", "Ġc", "1"]
    metadata = {"llama.embedding_length": 32, "llama.feed_forward_length": 64, "llama.block_count": 2, "llama.attention.head_count": 2,
                "llama.attention.head_count_kv": 1, "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.context_length": 64,
                "llama.rope.freq_base": 1e4, "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 0,
                "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": [3] + [1] * 7, "tokenizer.ggml.merges": ["a b", "Ġ c"]}
    torch.manual_seed(1)
    model = llama_gguf.transformers.LlamaForCausalLM(llama_gguf.config(metadata)).float().eval()
    names = {long: short for short, long in llama_gguf.NAMES.items()}
    tensors = {}
    for name, parameter in model.named_parameters():
        array, parts = parameter.detach().numpy(), name.split(".")
        if parts[1] == "layers":
            short = names[".".join(parts[3:-1])]
            heads = {"attn_q": 2, "attn_k": 1}.get(short)
            if heads:  # the inverse of llama_gguf's
                array = array.reshape(heads, 2, -1, array.shape[1]).swapaxes(1, 2).reshape(array.shape)
            key = "blk.%s.%s.weight" % (parts[2], short)
        else:
            key = {"embed_tokens": "token_embd.weight", "norm": "output_norm.weight"}[parts[1]]
        tensors[key] = (array.shape, 0, array.astype("<f4").tobytes())
    got = gguf.parse(written(metadata, tensors))
    ids = torch.tensor([[1, 2, 3, 4, 5]])
    with torch.no_grad():
        assert torch.equal(llama_gguf.model(*got)(ids).logits, model(ids).logits)
    tokenizer = llama_gguf.tokenizer(got[0])
    assert tokenizer.encode("abc c11<|end|>").ids == [5, 3, 6, 7, 7, 0]
    assert tokenizer.decode([5, 3, 6]) == "abc c"


check_blocks()
try:
    import transformers
except ImportError:
    print("blocks ok; no transformers")
else:
    check_model()
print("ok")

"""Linear and MLP of runtime/python on the emulator, against sums in double. Standard library only."""
import json
import math
import os
import random
import struct
import sys

import heptane
from heptane import layers

seed = int(os.environ.get("SEED", "1"))
print("seed", seed)
rng = random.Random(seed)


def matrix(rows, columns, scale=1.0, offset=0.0):
    """Values that f16 holds exactly, as rows."""
    return [[struct.unpack("e", struct.pack("e", offset + scale * rng.gauss(0, 1)))[0] for _ in range(columns)] for _ in range(rows)]


def pack(rows):
    return b"".join(struct.pack("%de" % len(row), *row) for row in rows)


def put(context, rows):
    data = pack(rows)
    address = context.alloc(len(data))
    context.upload(address, data)
    return address


def product(x, w):
    return [[sum(a * b for a, b in zip(row, line)) for line in w] for row in x]


def error(context, address, want):
    count = len(want) * len(want[0])
    got = struct.unpack("%de" % count, context.download(address, 2 * count))
    flat = [value for row in want for value in row]
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(got, flat)) / sum(b * b for b in flat))


def check(what, value, limit):
    print("%-40s %.2e" % (what, value))
    assert value < limit, what


context = heptane.Context("emulator", target="sm_90a")
memory = layers.OwnMemory(context)
assert context.backend == "emulator" and context.target == "sm_90a"

# Linear: few rows take the trivial scheme, many the other; the weight may go once it is prepared
inputs, outputs = 48, 40
weight, bias = matrix(outputs, inputs, 0.2), matrix(1, outputs)
weight_at = put(context, weight)
linear = layers.Linear(context, memory, inputs, outputs, weight_at, put(context, bias), threshold=6)
context.fill(weight_at, 0xff, 2 * inputs * outputs)
for rows in (1, 7, 7):
    x = matrix(rows, inputs)
    c = context.alloc(2 * rows * outputs)
    context.fill(c, 0xff, 2 * rows * outputs)
    linear.run(rows, x=put(context, x), c=c)
    want = [[value + b for value, b in zip(row, bias[0])] for row in product(x, weight)]
    check("linear, %d rows" % rows, error(context, c, want), 2e-3)

# MLP with norm, residual and biases
hidden, inner, rows = 40, 24, 5
gate, up, down = matrix(inner, hidden, 0.15), matrix(inner, hidden, 0.15), matrix(hidden, inner, 0.2)
norm, gate_bias, up_bias, down_bias = matrix(1, hidden, 0.1, 1.0), matrix(1, inner, 0.3), matrix(1, inner, 0.3), matrix(1, hidden, 0.3)


def mlp_of(z, norm):
    normed = []
    for row in z:
        scale = 1 / math.sqrt(sum(v * v for v in row) / hidden + 1e-5)
        normed.append([v * scale * w for v, w in zip(row, norm[0])])
    gates = [[v + b for v, b in zip(row, gate_bias[0])] for row in product(normed, gate)]
    ups = [[v + b for v, b in zip(row, up_bias[0])] for row in product(normed, up)]
    act = [[u * g / (1 + math.exp(-g)) for g, u in zip(p, q)] for p, q in zip(gates, ups)]
    return [[v + b for v, b in zip(row, down_bias[0])] for row in product(act, down)]


mlp = layers.MLP(context, memory, hidden, inner, put(context, gate), put(context, up), put(context, down), put(context, norm), 1e-5,
                 gate_bias=put(context, gate_bias), up_bias=put(context, up_bias), down_bias=put(context, down_bias), threshold=3)
for rows in (1, 5):
    x, residual = matrix(rows, hidden), matrix(rows, hidden)
    c, total, overflow = context.alloc(2 * rows * hidden), context.alloc(2 * rows * hidden), context.alloc(4)
    context.fill(overflow, 0, 4)
    mlp.run(rows, x=put(context, x), residual=put(context, residual), sum=total, c=c, overflow=overflow)
    z = [[a + b for a, b in zip(p, q)] for p, q in zip(x, residual)]
    check("mlp, %d rows" % rows, error(context, c, mlp_of(z, norm)), 4e-3)
    check("sum, %d rows" % rows, error(context, total, z), 1e-3)
    assert context.download(overflow, 4) == bytes(4)

# a sum beyond f16's range is normalised all the same; a norm's weight that takes the normalised values out of it is reported, when
# weights are prepared where it is in that of gate and up
huge = put(context, [[60000.0] * hidden])
mlp.run(1, x=huge, residual=huge, sum=total, c=c, overflow=overflow)
assert context.download(overflow, 4) == bytes(4)
mlp.constants["norm"] = huge
mlp.run(5, x=put(context, matrix(5, hidden, 2.0)), residual=0, c=c, overflow=overflow)
assert context.download(overflow, 1)[0] & 1
context.fill(overflow, 0, 4)
layers.MLP(context, memory, hidden, inner, put(context, gate), put(context, up), put(context, down), huge, weight_scales=(64.0, 1.0), overflow=overflow)
assert context.download(overflow, 1)[0] & 4
# weights that f16 forms cannot hold are reported when they are prepared; a power of two brings them back
large = put(context, [[50000.0] * inner] * hidden)
context.fill(overflow, 0, 4)
for scale, bits in ((4.0, 4), (2.0 ** -15, 0)):
    layers.MLP(context, memory, hidden, inner, put(context, gate), put(context, up), large, weight_scales=(1.0, scale),
               overflow=overflow)
    assert context.download(overflow, 1)[0] & 4 == bits, (scale, bits)
    context.fill(overflow, 0, 4)
# scaled by a power of two and back gives the same result. Few rows take weights with the norm's in them, which have a scale of their
# own: normalised after the product, or, with a residual, before; many rows take weights without it
for norm_scale in (1.0, 4.0, 0.25):
    scaled = layers.MLP(context, memory, hidden, inner, put(context, gate), put(context, up), put(context, down), put(context, norm), 1e-5,
                        gate_bias=put(context, gate_bias), up_bias=put(context, up_bias), down_bias=put(context, down_bias), threshold=3,
                        weight_scales=(4.0, 0.25), norm_scale=norm_scale, overflow=overflow)
    for rows, more in ((1, residual), (1, None), (5, residual)):
        given = {"residual": put(context, more), "sum": total} if more else {}
        scaled.run(rows, x=put(context, x), c=c, overflow=overflow, **given)
        check("mlp, norm_scale %g, %d rows%s" % (norm_scale, rows, ", residual" if more else ""),
              error(context, c, mlp_of((z if more else x)[:rows], norm)), 4e-3)
    assert ["row_scales" in scaled._op(number).buffers for number in map(scaled.number_for, (1, 5))] == [True, False]
assert context.download(overflow, 4) == bytes(4)
# a norm's weight that with those of gate and up is beyond f16, though neither is by itself
steep = put(context, [[600.0] * hidden])
wide = [[200.0 if i == j else 0.0 for i in range(hidden)] for j in range(inner)]
for norm_scale, bits in ((1.0, 4), (2.0 ** -8, 0)):
    context.fill(overflow, 0, 4)
    steeper = layers.MLP(context, memory, hidden, inner, put(context, wide), put(context, wide), put(context, down), steep,
                         norm_scale=norm_scale, overflow=overflow)
    assert context.download(overflow, 4)[0] == bits, (norm_scale, bits)
# also where X is multiplied as it is and there is no norm to undo the scale
plain_want = None
for first in (1.0, 4.0, 0.25):
    plain = layers.MLP(context, memory, hidden, inner, put(context, gate), put(context, up), put(context, down), weight_scales=(first, 1.0))
    plain.run(5, x=put(context, x), c=c)
    if plain_want is None:
        gates, ups = product(x, gate), product(x, up)
        plain_want = product([[u * g / (1 + math.exp(-g)) for g, u in zip(p, q)] for p, q in zip(gates, ups)], down)
    check("mlp without norm, scale %g" % first, error(context, c, plain_want), 4e-3)
del mlp, linear, scaled, steeper, plain

# what was tuned for a number of rows is taken for it, and few rows share the weights of the trivial scheme
names = {"gate": put(context, gate), "up": put(context, up), "down": put(context, down), "norm": put(context, norm)}
chosen = layers.MLP(context, memory, hidden, inner, **names)
assert [choice.rows for choice in chosen.choices[:3] + chosen.choices[-3:]] == [16, 32, 48, 1792, 2048, layers.MOST_ROWS], chosen.choices
assert [chosen.choices[chosen.number_for(m)].plan for m in (1, 300, 500, 1024)] == [
    "turned=16,tile_n=128,cluster=1", "turned=160,tile_n=128,cluster=2", "tile_n=128,cluster=1", ""], chosen.choices
assert len(chosen.prepared) == 3 and len(chosen.ops) == 3 and not chosen.choices[0].tuned
assert chosen.choices[-1].scheme == "seven-write" and chosen.number_for(1 << 21) == len(chosen.choices) - 1
spared = layers.MLP(context, memory, hidden, inner, threshold=257, **names)
assert [choice.rows for choice in spared.choices[-2:]] == [256, layers.MOST_ROWS] and len(spared.prepared) == 2
# layers of equal sizes read no folder twice and share what is loaded
reading, layers._layout = layers._layout, None
again = layers.MLP(context, memory, hidden, inner, **names)
assert again.layouts == chosen.layouts and all(again.ops[folder] is op for folder, op in chosen.ops.items())
layers._layout = reading
del again
del spared
# where sizes need no padding, all plans of the trivial scheme share their weights
even = {name: put(context, matrix(*shape)) for name, shape in {"gate": (128, 256), "up": (128, 256), "down": (256, 128), "norm": (1, 256)}.items()}
shared = layers.MLP(context, memory, 256, 128, **even)
assert len(shared.prepared) == 2 and len({shared.layouts[i] for i, choice in enumerate(shared.choices) if choice.scheme == "trivial"}) == 1
del shared
with open(os.path.join(os.environ["XDG_CACHE_HOME"], "heptane", "tuned.json"), "w") as file:
    key = "%s; sm_90a; driver 0; mlp; f16 f16 f16 f16 swiglu; 32x%dx%d" % (context.device, inner, hidden)
    json.dump({"format": "heptane-tuned/1", "choices": {key: {
        "scheme": "strassen", "plan": "tile_n=128", "settings": "cut=0", "unchained": True, "ms": 1.0, "trivial_ms": 2.0}}}, file)
tuned = layers.MLP(context, memory, hidden, inner, **names)
assert [choice.rows for choice in tuned.choices[:3]] == [16, 32, 48]
assert tuned.choices[1].tuned and tuned.choices[1].scheme == "strassen" and len(tuned.prepared) == 4
forced = layers.MLP(context, memory, hidden, inner, scheme="textbook", threshold=24, **names)
assert [(choice.scheme, choice.rows) for choice in forced.choices[-2:]] == [("trivial", 23), ("textbook", layers.MOST_ROWS)]
rows = 18
x, c, overflow = matrix(rows, hidden), context.alloc(2 * rows * hidden), context.alloc(4)
normed = [[v * w / math.sqrt(sum(u * u for u in row) / hidden + 1e-6) for v, w in zip(row, norm[0])] for row in x]
act = [[u * g / (1 + math.exp(-g)) for g, u in zip(p, q)] for p, q in zip(product(normed, gate), product(normed, up))]
for name, layer in (("default", chosen), ("tuned", tuned)):
    context.fill(overflow, 0, 4)
    layer.run(rows, x=put(context, x), c=c, overflow=overflow)
    check("mlp, %d rows, %s" % (rows, name), error(context, c, product(act, down)), 4e-3)
del chosen, tuned, forced, layer

# errors say what and why
for wrong in (lambda: heptane.Op(context, "/nonexistent"), lambda: heptane.Context("nonsense"),
              lambda: layers.MLP(context, memory, hidden, inner, 0, 0, 0, activation="none")):
    try:
        wrong()
    except heptane.Error as caught:
        assert caught.code and str(caught), caught
    else:
        sys.exit("no error")
print("ok")

"""The PyTorch modules against torch in double: on a GPU, and without one at tiny sizes on the emulator. Skipped without PyTorch."""
import gc
import os
import shutil
import sys
import sysconfig

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
import heptane

GPU = torch.cuda.is_available()
HERE = {"device": "cuda"} if GPU else {"device": "cpu"}
PLACE = {} if GPU else {"backend": "emulator"}
HIDDEN, INNER = (512, 1376) if GPU else (40, 24)
# Triton compiles its launchers
INDUCTOR = GPU and any(map(shutil.which, ("cc", "gcc", "clang"))) and os.path.exists(sysconfig.get_path("include") + "/Python.h")
ROWS, THRESHOLD = ((1, 33, 2048), 1024) if GPU else ((1, 4), 6)
# relative Frobenius error that an MLP and a Linear with outputs of this type stay within
LIMITS = {torch.float16: 2e-3, torch.bfloat16: 8e-3}

torch.manual_seed(1)


def error(got, want):
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def check(what, value, limit):
    print("%-60s %.2e" % (what, value))
    assert value < limit, what


def refused(what, call, *words):
    try:
        call()
    except (ValueError, heptane.Error) as caught:
        assert all(word in str(caught) for word in words), "%s: %s" % (what, caught)
    else:
        raise AssertionError("%s was taken" % what)


def weights(dtype):
    def made(*shape):
        return (torch.randn(*shape, **HERE) / shape[1] ** 0.5).to(dtype)
    return made(INNER, HIDDEN), made(INNER, HIDDEN), made(HIDDEN, INNER), (1 + 0.1 * torch.randn(HIDDEN, **HERE)).to(dtype)


def reference(x, gate, up, down, norm):
    x = x.double()
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * norm.double()
    return (torch.nn.functional.silu(y @ gate.double().T) * (y @ up.double().T)) @ down.double().T


def inputs(dtype, rows, batch=2):
    return torch.randn(batch, rows, HIDDEN, **HERE).to(dtype)


def check_layers(dtype):
    given = weights(dtype)
    gate, limit = given[0], LIMITS[dtype]
    mlp = heptane.MLP.from_torch(*given, eps=1e-6, threshold=THRESHOLD, **PLACE)
    for rows in ROWS:
        x, residual = inputs(dtype, rows), inputs(dtype, rows)
        check("mlp %s, %d rows" % (dtype, 2 * rows), error(mlp(x), reference(x, *given)), limit)
        y, total = mlp(x, residual)
        check("  with a residual", error(y, reference(x.double() + residual.double(), *given)), limit)
        check("  its sum", error(total, x.double() + residual.double()), limit / 2)
        z = x.double() + residual.double()
        check("  added", error(mlp.added(x, residual), z + reference(z, *given)), limit / 2)
    assert not mlp.overflowed()
    mlp(torch.full_like(x, float("inf")))
    assert mlp.overflowed() and not mlp.overflowed()
    if dtype == torch.bfloat16:
        check_product_range(given)
    spread = torch.randn(2, HIDDEN, ROWS[-1], **HERE).to(dtype).transpose(1, 2)
    assert not spread.is_contiguous()
    check("  of a transposed x", error(mlp(spread), reference(spread, *given)), limit)
    assert mlp(x[:, :0]).shape == (2, 0, HIDDEN) and mlp(x[0, 0]).shape == (HIDDEN,)
    forced = heptane.MLP.from_torch(*given, eps=1e-6, threshold=1, **PLACE)  # never the trivial scheme
    assert [choice.scheme for choice in forced.layer.choices] == ["seven-write"] and len(forced.layer.prepared) == 1
    check("  forced, one row", error(forced(x[:1, :1]), reference(x[:1, :1], *given)), 1.5 * limit)
    bias = torch.randn(INNER, **HERE).to(dtype)
    linear = heptane.Linear.from_torch(gate, bias, threshold=THRESHOLD, **PLACE)
    check("linear %s" % dtype, error(linear(x), x.double() @ gate.double().T + bias.double()), limit)


def check_product_range(given):
    """Sums of the product in f16 may leave its range: that is reported. There must be a second block of rows, since seven-write
    stores the first one but once, in bf16."""
    gate, up, down, norm = given
    mlp = heptane.MLP.from_torch(gate, up, 64 * down, torch.full_like(norm, 40), threshold=THRESHOLD, **PLACE)
    y = mlp(inputs(torch.bfloat16, max(ROWS[-1], 140)))
    assert not torch.isfinite(y).all() and mlp.overflowed()


def check_norms(dtype):
    """A norm far from 1, and weights as far on the other side: those that have the norm's in them need no scale, the others do."""
    gate, up, down, norm = weights(dtype)
    for factor in (2.0 ** -8, 2.0 ** 8):
        given = gate / factor, up / factor, down, norm * factor
        mlp = heptane.MLP.from_torch(*given, eps=1e-6, threshold=THRESHOLD, **PLACE)
        for rows in ROWS:
            x, residual = inputs(dtype, rows), inputs(dtype, rows)
            check("norm of %g, %s, %d rows" % (factor, dtype, 2 * rows), error(mlp(x), reference(x, *given)), LIMITS[dtype])
            check("  with a residual", error(mlp(x, residual)[0], reference(x.double() + residual.double(), *given)), LIMITS[dtype])
        assert not mlp.overflowed()


def check_compiled(dtype):
    given, x, residual = weights(dtype), inputs(dtype, ROWS[-1]), inputs(dtype, ROWS[-1])
    mlp = heptane.MLP.from_torch(*given, eps=1e-6, threshold=THRESHOLD, **PLACE)
    torch.library.opcheck(torch.ops.heptane.layer, (x, mlp.number, mlp.outputs), test_utils=("test_schema", "test_faketensor"))
    for operator in (torch.ops.heptane.layer_residual, torch.ops.heptane.layer_added):
        torch.library.opcheck(operator, (x, residual, mlp.number), test_utils=("test_schema", "test_faketensor"))
    function = lambda x, r: [t * 2 for t in mlp(x, r)] + [mlp(x) + 1, mlp.added(x, r) * 3]
    with torch.no_grad():
        compiled = torch.compile(function, fullgraph=True, backend="inductor" if INDUCTOR else "aot_eager")
        for got, want in zip(compiled(x, residual), function(x, residual)):
            assert torch.equal(got, want) or error(got, want) < 1e-2
    print("compiled by", "inductor" if INDUCTOR else "aot_eager")
    number = mlp.number
    del mlp, compiled, function
    gc.collect()
    torch.compiler.reset()
    gc.collect()
    try:
        torch.ops.heptane.layer(x, number, HIDDEN)
    except RuntimeError as caught:
        assert "is gone" in str(caught)
    else:
        raise AssertionError("a layer outlives its module")


def check_refusals():
    given = weights(torch.float16)
    gate, up, down, norm = given
    mlp = heptane.MLP.from_torch(*given, **PLACE)
    x = inputs(torch.float16, 2)
    refused("another type", lambda: mlp(x.float()), "x is torch.float32")
    refused("a short row", lambda: mlp(x[..., 1:]), "rows must have %d" % HIDDEN)
    refused("a residual of another shape", lambda: mlp(x, x[:1]), "residual")
    refused("a residual without a norm", lambda: heptane.MLP.from_torch(gate, up, down, **PLACE)(x, x), "none")
    make = heptane.MLP.from_torch
    refused("weights of two shapes", lambda: make(gate, up[1:], down, **PLACE), "gate is")
    refused("weights of two types", lambda: make(gate.bfloat16(), up, down, **PLACE), "gate is torch.bfloat16")
    refused("f32 weights", lambda: make(gate.float(), up.float(), down.float(), **PLACE), "torch.float32", "torch.float16")
    refused("a transposed weight", lambda: make(gate, up, down.T.contiguous().T, **PLACE), "contiguous")
    for bad in (float("nan"), float("inf")):
        broken = down.clone()
        broken[3, 2] = bad
        refused("a weight with %s" % bad, lambda: make(gate, up, broken, **PLACE), "down", "finite")
    refused("an activation that is none", lambda: make(gate, up, down, activation="none", **PLACE), "activation")
    refused("weights of two devices", lambda: make(gate, up, down.cpu() if GPU else down.to("meta"), **PLACE), "down is")
    refused("weights without a device", lambda: make(*(t.cpu() for t in given)), "backend")
    if GPU:
        refused("x on the cpu", lambda: mlp(x.cpu()), "on cpu")
    with mlp.where.lent({"x": x}, {"c": x.clone()}) as at:
        refused("a misaligned x", lambda: mlp.layer.run(1, mlp.where.stream(), x=at["x"] + 1, c=at["c"]), "x", "aligned")
    refused("no rows", lambda: mlp.layer.run(0, None), "one row")


def check_graph():
    """Captured after one run, replayed on new input; a second graph of the same capture stream, too."""
    given = weights(torch.bfloat16)
    mlp = heptane.MLP.from_torch(*given, threshold=THRESHOLD)
    x, more = inputs(torch.bfloat16, 700), inputs(torch.bfloat16, 700)
    for _ in range(2):
        graph = torch.cuda.CUDAGraph()
        static = x.clone()
        mlp(static)  # compiles and loads what this number of rows takes
        gc.collect()  # nor may a layer that nobody holds unload its kernels during the capture
        with torch.cuda.graph(graph):
            y = mlp(static)
        for values in (x, more):
            static.copy_(values)
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(y, mlp(values)), "a replayed graph gives another result"
    print("graph ok")


def check_streams():
    """Two streams at once have workspaces of their own: no result changes."""
    given = weights(torch.bfloat16)
    mlp = heptane.MLP.from_torch(*given, threshold=THRESHOLD)
    xs = [inputs(torch.bfloat16, 2048) for _ in range(2)]
    want = [mlp(x) for x in xs]
    torch.cuda.synchronize()
    streams, got = [torch.cuda.Stream() for _ in xs], [[], []]
    for _ in range(20):
        for x, stream, results in zip(xs, streams, got):
            with torch.cuda.stream(stream):
                results.append(mlp(x))
    torch.cuda.synchronize()
    for results, expected in zip(got, want):
        assert all(torch.equal(y, expected) for y in results), "another stream has changed a result"
    print("streams ok")


check_refusals()
for dtype in LIMITS:
    check_layers(dtype)
    check_norms(dtype)
check_compiled(torch.bfloat16)
if GPU:
    check_graph()
    check_streams()
else:
    print("no GPU: graphs and streams are not tested")
print("ok")

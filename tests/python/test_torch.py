"""The PyTorch modules: skipped without PyTorch or a GPU. Against torch in f32, in a decoder of transformers if it is there."""
import copy
import sys

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: no GPU")
    sys.exit(77)
import heptane

torch.manual_seed(1)


def error(got, want):
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def check_layers(dtype, limit):
    hidden, inner = 512, 1376
    gate, up, down = (torch.randn(*shape, device="cuda") / shape[1] ** 0.5 for shape in ((inner, hidden), (inner, hidden), (hidden, inner)))
    norm = 1 + 0.1 * torch.randn(hidden, device="cuda")
    gate, up, down, norm = (t.to(dtype) for t in (gate, up, down, norm))
    mlp = heptane.MLP.from_torch(gate, up, down, norm, eps=1e-6, threshold=1024)
    for rows in (1, 33, 2048):
        x = torch.randn(2, rows, hidden, device="cuda").to(dtype)
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * norm.float()
        want = (torch.nn.functional.silu(y @ gate.float().T) * (y @ up.float().T)) @ down.float().T
        e = error(mlp(x), want)
        print("mlp", dtype, 2 * rows, "%.2e" % e)
        assert e < limit
    assert not mlp.overflowed()
    compiled = torch.compile(lambda x: mlp(x) + 1)
    assert error(compiled(x), want + 1) < limit
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = mlp(x)
    graph.replay()
    assert torch.equal(y, mlp(x))
    linear = heptane.Linear.from_torch(gate, torch.randn(inner, device="cuda").to(dtype), threshold=1024)
    assert linear(x).shape == (2, 2048, inner)
    for wrong in (x.float(), x.cpu()):
        try:
            mlp(wrong)
        except ValueError:
            continue
        raise AssertionError("taken")


def check_transformers():
    try:
        from transformers import LlamaConfig, LlamaForCausalLM
    except ImportError:
        print("transformers is not there")
        return
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=4, num_attention_heads=16, vocab_size=1000)
    model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
    exact = copy.deepcopy(model).float()
    ids = torch.randint(0, 1000, (1, 2048), device="cuda")
    with torch.no_grad():
        want = exact(ids, output_hidden_states=True)
        plain = model(ids, output_hidden_states=True)
        for layer in model.model.layers:
            m = layer.mlp
            layer.mlp = heptane.MLP.from_torch(m.gate_proj.weight, m.up_proj.weight, m.down_proj.weight, threshold=1)
        ours = model(ids, output_hidden_states=True)
    for name, take in (("hidden states", lambda o: o.hidden_states[-1]), ("logits", lambda o: o.logits)):
        a, b = error(take(plain), take(want)), error(take(ours), take(want))
        print(name, "bf16 %.2e, with Heptane %.2e" % (a, b))
        assert b < 1.5 * a


check_layers(torch.float16, 2e-3)
check_layers(torch.bfloat16, 8e-3)
check_transformers()
print("ok")

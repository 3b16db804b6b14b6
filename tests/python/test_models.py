"""heptane.replace_mlps in every family of models that it knows (random weights): hidden states and logits against the model in f32.

Skipped without PyTorch and transformers; without a GPU the models are tiny and the layers run on the emulator.
"""
import copy
import sys

try:
    import torch
    import transformers
except ImportError as missing:
    print("skipped: no", missing.name)
    sys.exit(77)
import heptane
from heptane import models

GPU = torch.cuda.is_available()
DEVICE, PLACE = ("cuda", {}) if GPU else ("cpu", {"backend": "emulator"})
TOKENS = 2048 if GPU else 6
SIZES = dict(hidden_size=1024, intermediate_size=2816, num_hidden_layers=4, num_attention_heads=16, num_key_value_heads=4,
             head_dim=64, vocab_size=1000, pad_token_id=0) if GPU else \
    dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
         vocab_size=50, pad_token_id=0)
SIZES["eos_token_id"] = 1
CASES = [  # what transformers calls the family, further settings
    ("Llama", {}), ("Llama", {"mlp_bias": True}), ("Mistral", {}), ("Qwen2", {}), ("Qwen3", {}), ("Phi3", {}), ("Gemma", {}), ("Gemma2", {}),
]


def error(got, want):
    return ((got.double() - want.double()).norm() / want.double().norm()).item()


def model_of(family, settings):
    torch.manual_seed(1)
    config = getattr(transformers, family + "Config")(**SIZES, **settings)
    model = getattr(transformers, family + "ForCausalLM")(config)
    for parameter in model.parameters():  # weights that are small and norms that are all alike would hide a mistake
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, parameter.mean().item(), 0.2)
        else:
            torch.nn.init.normal_(parameter, 0, parameter.shape[1] ** -0.5)
    return model.to(DEVICE, torch.bfloat16).eval()


@torch.no_grad()
def check_family(family, settings):
    model = model_of(family, settings)
    ids = torch.randint(1, SIZES["vocab_size"], (1, TOKENS), device=DEVICE)
    take = lambda m: (lambda o: (o.hidden_states[-1], o.logits))(m(ids, output_hidden_states=True))
    want, plain = take(copy.deepcopy(model).float()), take(model)
    assert heptane.replace_mlps(model, threshold=1, **PLACE) == SIZES["num_hidden_layers"]
    ours = take(model)
    for name, w, p, o in zip(("hidden states", "logits"), want, plain, ours):
        a, b = error(p, w), error(o, w)
        print("%-8s %-14s bf16 %.2e, with Heptane %.2e %s" % (family, name, a, b, settings or ""))
        assert b < 1.5 * a, "Heptane is less accurate than bf16"
    assert not any(m.overflowed() for m in model.modules() if isinstance(m, heptane.MLP))
    assert isinstance(getattr(model.model.layers[0], "mlp"), heptane.MLP)


def check_generation():
    """Prompt and single tokens with a cache of keys and values: the layers' other arguments pass through."""
    model = model_of("Llama", {})
    ids = torch.randint(1, SIZES["vocab_size"], (2, 5), device=DEVICE)
    heptane.replace_mlps(model, **PLACE)
    with torch.no_grad():
        whole = model(torch.cat([ids, ids[:, :1]], 1)).logits[:, -1]
        cache = model(ids, use_cache=True).past_key_values
        step = model(ids[:, :1], past_key_values=cache, use_cache=True).logits[:, -1]
    assert error(step, whole) < 3e-2, error(step, whole)
    print("generation ok")


def check_refusals():
    for wrong, words in ((lambda: heptane.replace_mlps(torch.nn.Linear(2, 2)), "LlamaMLP"),
                         (lambda: heptane.replace_mlps(model_of("Llama", {"hidden_act": "tanh"}), **PLACE), "tanh")):
        try:
            wrong()
        except ValueError as caught:
            assert words in str(caught), caught
        else:
            raise AssertionError("taken: " + words)


for name in models.FAMILIES:
    assert any(name == family + "MLP" for family, _ in CASES), "no case for " + name
for case in CASES:
    check_family(*case)
check_generation()
check_refusals()
print("ok")

"""Decoder models of transformers with every MLP computed by heptane.MLP, the norm before it and the sum of the residual fused in.

    heptane.replace_mlps(model)                   # in place; for inference
"""
import collections
import types

import torch

from .torch_layers import MLP

# norm: the layer's norm before the MLP; offset: what its weight lacks; summed: the layer's forward is Llama's, in which
# the sum of the residual comes right before that norm
_Family = collections.namedtuple("_Family", "norm offset summed")
FAMILIES = {  # class of the MLP
    "GemmaMLP": _Family("post_attention_layernorm", 1.0, True),
    "Gemma2MLP": _Family("pre_feedforward_layernorm", 1.0, False),
    "LlamaMLP": _Family("post_attention_layernorm", 0.0, True),
    "MistralMLP": _Family("post_attention_layernorm", 0.0, True),
    "Phi3MLP": _Family("post_attention_layernorm", 0.0, False),
    "Qwen2MLP": _Family("post_attention_layernorm", 0.0, True),
    "Qwen3MLP": _Family("post_attention_layernorm", 0.0, True),
}
ACTIVATIONS = {"silu": "swiglu", "swish": "swiglu", "gelu": "geglu", "gelu_pytorch_tanh": "geglu_tanh", "gelu_new": "geglu_tanh"}


def _projections(mlp):
    """gate, up, down as (weight, bias); models store gate and up apart or as one."""
    if hasattr(mlp, "gate_up_proj"):
        weights = mlp.gate_up_proj.weight.chunk(2)
        biases = (None, None) if mlp.gate_up_proj.bias is None else mlp.gate_up_proj.bias.chunk(2)
        return (weights[0], biases[0]), (weights[1], biases[1]), (mlp.down_proj.weight, mlp.down_proj.bias)
    return tuple((linear.weight, linear.bias) for linear in (mlp.gate_proj, mlp.up_proj, mlp.down_proj))


def _activation(config):
    name = getattr(config, "hidden_activation", None) or config.hidden_act
    if name not in ACTIVATIONS:
        raise ValueError("the model's activation is %s; known are %s" % (name, ", ".join(sorted(ACTIVATIONS))))
    return ACTIVATIONS[name]


def _made(mlp, norm, offset, options):
    (gate, gate_bias), (up, up_bias), (down, down_bias) = _projections(mlp)
    eps = norm.variance_epsilon if hasattr(norm, "variance_epsilon") else norm.eps
    return MLP.from_torch(gate, up, down, norm.weight, eps, offset, gate_bias, up_bias, down_bias, _activation(mlp.config), **options)


def _forward(layer, hidden_states, **given):
    """A decoder layer's: both sums of the residual are the MLP's, in the kernels of the norm and of the product."""
    attended, _ = layer.self_attn(hidden_states=layer.input_layernorm(hidden_states), **given)
    return layer.mlp.added(attended, hidden_states)


@torch.no_grad()
def replace_mlps(model, **options):
    """Every known MLP of a model of transformers, in place, with the norm before it. Returns how many there were.
    `options`: scheme, forms, threshold, rounding, backend of heptane.MLP.from_torch. The MLPs' own weights are dropped."""
    layers = [module for module in model.modules() if type(getattr(module, "mlp", None)).__name__ in FAMILIES]
    if not layers:
        raise ValueError("%s has no layer whose mlp is a %s" % (type(model).__name__, ", a ".join(sorted(FAMILIES))))
    for layer in layers:
        family = FAMILIES[type(layer.mlp).__name__]
        layer.mlp = _made(layer.mlp, getattr(layer, family.norm), family.offset, options)
        if family.summed:
            layer.forward = types.MethodType(_forward, layer)
        else:
            setattr(layer, family.norm, torch.nn.Identity())
    return len(layers)

"""PyTorch: modules, and operators that torch.compile understands. Tensors are passed by pointer on the current stream.

    mlp = heptane.MLP.from_torch(layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight, layer.mlp.down_proj.weight)
    y = mlp(x)                                    # any number of rows; few rows take the ordinary product
"""
import itertools
import math

import torch

from . import layers, runtime

_types = {torch.float16: "f16", torch.bfloat16: "bf16"}
_contexts, _registry, _numbers = {}, {}, itertools.count(1)


class _Memory:
    """Memory from PyTorch's allocator. What was handed out once stays alive: captured graphs may refer to it."""

    def __init__(self, device):
        self.device, self.kept, self.shared = device, [], {}

    def alloc(self, size, zero=False):
        tensor = (torch.zeros if zero else torch.empty)(max(size, 16), dtype=torch.uint8, device=self.device)
        self.kept.append(tensor)
        return tensor.data_ptr()

    def workspace(self, key, size, zero, stream):
        address, had = self.shared.get((key, stream), (0, -1))
        if had < size:
            address = self.alloc(size, zero)
            self.shared[key, stream] = address, size
        return address


_memories = {}


def _device(tensor):
    if tensor.device.type != "cuda":
        raise ValueError("the weights must be on a CUDA device, not on %s" % tensor.device)
    index = tensor.device.index or 0
    if index not in _contexts:
        _contexts[index] = runtime.Context("gpu", index)
        _memories[index] = _Memory(tensor.device)
    return _contexts[index], _memories[index]


def _stream(tensor):
    return torch.cuda.current_stream(tensor.device).cuda_stream


def _weight(name, tensor, shape, like):
    if tensor is None:
        return 0
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError("%s is %s, not %s" % (name, tuple(tensor.shape), tuple(shape)))
    if tensor.dtype != like.dtype or tensor.device != like.device:
        raise ValueError("%s is %s on %s, the other weights are %s on %s" % (name, tensor.dtype, tensor.device, like.dtype, like.device))
    if not torch.isfinite(tensor).all():
        raise ValueError("%s holds numbers that are not finite" % name)
    if not tensor.is_contiguous():
        raise ValueError("%s must be contiguous" % name)
    return tensor.data_ptr()


def _in_range(*tensors):
    """f16 forms hold the sums of a few blocks of each weight."""
    return all(t is None or float(t.abs().max()) < 8192 for t in tensors)


def _scale(*tensors):
    """A power of two that brings the largest weight near 1, where it is far from there."""
    largest = max(float(t.abs().max()) for t in tensors if t is not None)
    if largest == 0 or 2 ** -6 <= largest <= 2 ** 9:
        return 1.0
    return 2.0 ** -round(math.log2(largest))


class _Module(torch.nn.Module):
    def __init__(self, layer, outputs, like, overflow=None):
        super().__init__()
        self.layer, self.outputs, self.type, self.device = layer, outputs, like.dtype, like.device
        self.number = next(_numbers)
        _registry[self.number] = self
        # bits: 1 normalised X, 2 activations have left the range of the forms
        self.overflow = torch.zeros(1, dtype=torch.int32, device=like.device) if overflow is None else overflow

    def forward(self, x):
        return torch.ops.heptane.layer(x, self.number, self.outputs)

    def overflowed(self):
        """Whether anything has left the range of the forms since the last call of this; waits for the device."""
        seen = bool(self.overflow.item())
        self.overflow.zero_()
        return seen


def _run(module, x):
    inputs = x.shape[-1]
    if x.dtype != module.type or x.device != module.device:
        raise ValueError("x is %s on %s, the layer is %s on %s" % (x.dtype, x.device, module.type, module.device))
    rows = x.reshape(-1, inputs).contiguous()
    out = torch.empty(rows.shape[0], module.outputs, dtype=x.dtype, device=x.device)
    if rows.shape[0]:
        addresses = {"x": rows.data_ptr(), "c": out.data_ptr()}
        if "overflow" in module.layer.buffers:
            addresses["overflow"] = module.overflow.data_ptr()
        module.layer.run(rows.shape[0], _stream(x), **addresses)
    return out.reshape(*x.shape[:-1], module.outputs)


@torch.library.custom_op("heptane::layer", mutates_args=())
def _layer_op(x: torch.Tensor, number: int, outputs: int) -> torch.Tensor:
    return _run(_registry[number], x)


@_layer_op.register_fake
def _(x, number, outputs):
    return x.new_empty(*x.shape[:-1], outputs)


class Linear(_Module):
    """A linear layer with a prepared weight, in place of torch.nn.Linear for inference."""

    @classmethod
    def from_torch(cls, weight, bias=None, scheme=None, forms=None, threshold=None):
        context, memory = _device(weight)
        outputs, inputs = weight.shape
        type = _types[weight.dtype]
        forms = forms or ("f16" if _in_range(weight) else "bf16")
        layer = layers.Linear(context, memory, inputs, outputs, _weight("weight", weight, (outputs, inputs), weight),
                              _weight("bias", bias, (outputs,), weight), type, forms, scheme, threshold, _stream(weight))
        layer.kept = (bias,)
        return cls(layer, outputs, weight)


class MLP(_Module):
    """A gated or plain MLP, with its norm if `norm` is given, in place of a model's own for inference."""

    @classmethod
    def from_torch(cls, gate, up, down, norm=None, eps=1e-6, norm_offset=0.0, gate_bias=None, up_bias=None, down_bias=None,
                   activation="swiglu", rounding="once", scheme=None, forms=None, threshold=None):
        context, memory = _device(up)
        inner, hidden = up.shape
        type = _types[up.dtype]
        overflow = torch.zeros(1, dtype=torch.int32, device=up.device)
        layer = layers.MLP(
            context, memory, hidden, inner, _weight("gate", gate, (inner, hidden), up), _weight("up", up, (inner, hidden), up),
            _weight("down", down, (hidden, inner), up), _weight("norm", norm, (hidden,), up), eps, norm_offset,
            _weight("gate_bias", gate_bias, (inner,), up), _weight("up_bias", up_bias, (inner,), up),
            _weight("down_bias", down_bias, (hidden,), up), (_scale(gate, up), _scale(down)),
            overflow.data_ptr(), activation, rounding, type, forms or "f16", scheme, threshold, _stream(up))
        if overflow.item() and forms is None:  # a weight with values too far apart for f16
            return cls.from_torch(gate, up, down, norm, eps, norm_offset, gate_bias, up_bias, down_bias, activation, rounding, scheme,
                                  "bf16", threshold)
        layer.kept = (norm, gate_bias, up_bias, down_bias)
        return cls(layer, hidden, up, overflow)

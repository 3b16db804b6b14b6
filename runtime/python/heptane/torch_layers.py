"""PyTorch: modules, and operators that torch.compile understands. Tensors are passed by pointer on the current stream.

    mlp = heptane.MLP.from_torch(layer.mlp.gate_proj.weight, layer.mlp.up_proj.weight, layer.mlp.down_proj.weight)
    y = mlp(x)                                    # any number of rows; few rows take the ordinary product
"""
import itertools
import math
import weakref

import torch

from . import layers
from .places import place

_types = {torch.float16: "f16", torch.bfloat16: "bf16"}
_registry, _numbers = weakref.WeakValueDictionary(), itertools.count(1)


def _type(name, tensor):
    if tensor.dtype not in _types:
        raise ValueError("%s is %s; weights can be %s" % (name, tensor.dtype, " or ".join(map(str, _types))))
    return _types[tensor.dtype]


def _checked(name, tensor, shape, like):
    if tuple(tensor.shape) != tuple(shape):
        raise ValueError("%s is %s, not %s" % (name, tuple(tensor.shape), tuple(shape)))
    if tensor.dtype != like.dtype or tensor.device != like.device:
        raise ValueError("%s is %s on %s, the other weights are %s on %s" % (name, tensor.dtype, tensor.device, like.dtype, like.device))
    if not tensor.is_contiguous():
        raise ValueError("%s must be contiguous" % name)
    if not torch.isfinite(tensor).all():
        raise ValueError("%s holds numbers that are not finite" % name)
    return tensor.detach()


def _all_checked(like, **named):
    """Name: (tensor or None, shape) -> name: tensor, of those that are there."""
    return {name: _checked(name, tensor, shape, like) for name, (tensor, shape) in named.items() if tensor is not None}


def _in_range(tensor):
    """f16 forms hold the sums of a few blocks of a weight."""
    return float(tensor.abs().max()) < 8192


def _largest(*tensors):
    return max(float(t.abs().max()) for t in tensors)


def _scale(largest):
    """A power of two for weights: small ones come near 1; large ones no further down than they must, since X takes what they lose."""
    if largest == 0 or 2 ** -6 <= largest <= 2 ** 9:
        return 1.0
    if largest > 2 ** 9:
        return 2.0 ** (9 - math.ceil(math.log2(largest)))
    return 2.0 ** -round(math.log2(largest))


class _Module(torch.nn.Module):
    """What Linear and MLP share. `layer` works on addresses, `where` turns tensors into them."""

    def __init__(self, where, layer, inputs, outputs, like, overflow=None):
        super().__init__()
        self.where, self.layer, self.inputs, self.outputs = where, layer, inputs, outputs
        self.dtype, self.device, self.overflow = like.dtype, like.device, overflow
        self.number = next(_numbers)
        _registry[self.number] = self

    def _rows(self, name, x):
        if x.dtype != self.dtype or x.device != self.device:
            raise ValueError("%s is %s on %s, the layer is %s on %s" % (name, x.dtype, x.device, self.dtype, self.device))
        if x.dim() < 1 or x.shape[-1] != self.inputs:
            raise ValueError("%s is %s, its rows must have %d elements" % (name, tuple(x.shape), self.inputs))
        return x.reshape(-1, self.inputs).contiguous()

    def run(self, reads, writes, also={}):
        """`also`: names of further inputs, each with the output that it is."""
        rows = reads["x"].shape[0]
        if self.overflow is not None:
            writes = {**writes, "overflow": self.overflow}
        if rows:
            with self.where.lent(reads, writes) as addresses:
                addresses.update({name: addresses[output] for name, output in also.items()})
                self.layer.run(rows, self.where.stream(), **addresses)


def _module(number):
    module = _registry.get(number)
    if module is None:
        raise RuntimeError("heptane layer %d is gone: keep the module as long as what was compiled from it" % number)
    return module


@torch.library.custom_op("heptane::layer", mutates_args=())
def _layer_op(x: torch.Tensor, number: int, outputs: int) -> torch.Tensor:
    module = _module(number)
    rows = module._rows("x", x)
    out = rows.new_empty(rows.shape[0], outputs)
    module.run({"x": rows}, {"c": out})
    return out.reshape(*x.shape[:-1], outputs)


@_layer_op.register_fake
def _(x, number, outputs):
    return x.new_empty(*x.shape[:-1], outputs)


def _with_residual(x, residual, number, also):
    module = _module(number)
    if residual.shape != x.shape:
        raise ValueError("x is %s, but residual is %s" % (tuple(x.shape), tuple(residual.shape)))
    rows, more = module._rows("x", x), module._rows("residual", residual)
    out, total = torch.empty_like(rows), torch.empty_like(rows)
    module.run({"x": rows, "residual": more}, {"c": out, "sum": total}, also)
    return out.reshape(x.shape), total.reshape(x.shape)


@torch.library.custom_op("heptane::layer_residual", mutates_args=())
def _residual_op(x: torch.Tensor, residual: torch.Tensor, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    return _with_residual(x, residual, number, {})


@_residual_op.register_fake
def _(x, residual, number):
    return x.new_empty(x.shape), x.new_empty(x.shape)


@torch.library.custom_op("heptane::layer_added", mutates_args=())
def _added_op(x: torch.Tensor, residual: torch.Tensor, number: int) -> torch.Tensor:
    return _with_residual(x, residual, number, {"add": "sum"})[0]


@_added_op.register_fake
def _(x, residual, number):
    return x.new_empty(x.shape)


class Linear(_Module):
    """A linear layer with a prepared weight, in place of torch.nn.Linear for inference."""

    @classmethod
    def from_torch(cls, weight, bias=None, scheme=None, forms=None, threshold=None, backend=None):
        type, where = _type("weight", weight), place(weight, backend)
        outputs, inputs = weight.shape
        constants = _all_checked(weight, bias=(bias, (outputs,)))
        weights = _all_checked(weight, weight=(weight, (outputs, inputs)))
        memory = where.memory()
        kept = where.keep(memory, constants)
        with where.lent(weights, {}) as lent:
            layer = layers.Linear(where.context, memory, inputs, outputs, lent["weight"], kept.get("bias", 0), type,
                                  forms or ("f16" if _in_range(weights["weight"]) else "bf16"), scheme, threshold, where.stream())
        return cls(where, layer, inputs, outputs, weight)

    def forward(self, x):
        return torch.ops.heptane.layer(x, self.number, self.outputs)


class MLP(_Module):
    """A gated or plain MLP, with its norm if `norm` is given, in place of a model's own for inference."""

    @classmethod
    def from_torch(cls, gate, up, down, norm=None, eps=1e-6, norm_offset=0.0, gate_bias=None, up_bias=None, down_bias=None,
                   activation="swiglu", rounding="once", scheme=None, forms=None, threshold=None, backend=None):
        type, where = _type("up", up), place(up, backend)
        inner, hidden = up.shape
        weights = _all_checked(up, gate=(gate, (inner, hidden)), up=(up, (inner, hidden)), down=(down, (hidden, inner)))
        constants = _all_checked(up, norm=(norm, (hidden,)), gate_bias=(gate_bias, (inner,)), up_bias=(up_bias, (inner,)),
                                 down_bias=(down_bias, (hidden,)))
        largest = _largest(*(weights[name] for name in ("gate", "up") if name in weights))
        scales, norm_scale = (_scale(largest), _scale(_largest(weights["down"]))), 1.0
        if norm is not None:
            norm_scale = _scale(largest * _largest(norm.float() + norm_offset)) / scales[0]

        def make(forms):  # bits of overflow: 1 normalised X, 2 activations, 4 weights, 8 the product have left their range
            overflow, memory = torch.zeros(1, dtype=torch.int32, device=up.device), where.memory()
            kept = where.keep(memory, constants)
            with where.lent(weights, {"overflow": overflow}) as lent:
                layer = layers.MLP(where.context, memory, hidden, inner, lent.get("gate", 0), lent["up"], lent["down"],
                                   eps=eps, norm_offset=norm_offset, weight_scales=scales, norm_scale=norm_scale, overflow=lent["overflow"],
                                   activation=activation, rounding=rounding, type=type, forms=forms,
                                   scheme=scheme, threshold=threshold, stream=where.stream(), **kept)
            return cls(where, layer, hidden, hidden, up, overflow)

        made = make(forms or "f16")
        if made.overflow.item() and forms is None:  # a weight with values too far apart for f16
            made = make("bf16")
        made.has_norm = norm is not None
        return made

    def forward(self, x, residual=None):
        """The MLP of x; with a residual, of x + residual, and that sum, which the norm's kernel makes: (y, sum)."""
        if residual is None:
            return torch.ops.heptane.layer(x, self.number, self.outputs)
        self._needs_norm()
        return torch.ops.heptane.layer_residual(x, residual, self.number)

    def added(self, x, residual):
        """z + the MLP of z, z = x + residual: what a decoder layer does after its attention. Rounded once where z is added."""
        self._needs_norm()
        return torch.ops.heptane.layer_added(x, residual, self.number)

    def _needs_norm(self):
        if not self.has_norm:
            raise ValueError("a residual is added within the norm, and this MLP has none")

    def overflowed(self):
        """Whether anything has left the range of the forms since the last call of this; waits for the device."""
        seen = bool(self.overflow.item())
        self.overflow.zero_()
        return seen

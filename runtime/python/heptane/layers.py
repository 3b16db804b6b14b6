"""Layers on device addresses: weights prepared once, any number of rows per call. heptane.torch_layers wraps them for PyTorch.

A layer never allocates on its own: `memory` gives it device memory. It is an object with
  alloc(size, zero) -> address     memory that stays until the layer is gone (prepared weights)
  workspace(key, size, zero, stream) -> address     memory that may be shared by calls on one stream
"""
import collections

from . import runtime

REMEMBERED = 64  # bound calls that a layer keeps, by shape and addresses


class OwnMemory:
    """Memory from the runtime itself, for use without a framework."""

    def __init__(self, context):
        self.context, self.kept, self.shared = context, [], {}

    def alloc(self, size, zero=False):
        address = self.context.alloc(max(size, 16))
        if zero:
            self.context.fill(address, 0, size)
        self.kept.append(address)
        return address

    def workspace(self, key, size, zero, stream):
        address, had = self.shared.get((key, stream), (0, -1))
        if had < size:
            address = self.alloc(size, zero)  # the old one may still be in use: it stays
            self.shared[key, stream] = address, size
        return address

    def __del__(self):
        for address in self.kept:
            self.context.free(address)


class _Layer:
    """An op for each way to compute; `small` for few rows (the trivial scheme), `large` for many."""

    def __init__(self, context, memory, sizes, ops, threshold):
        self.context, self.memory, self.sizes, self.threshold = context, memory, sizes, threshold
        self.ops = ops                      # {"small": Op, "large": Op}
        self.prepared = {name: {} for name in ops}
        self.calls = collections.OrderedDict()
        self.constants, self.scalars = {}, {}

    def _prepare(self, weights, stream):
        for name, op in self.ops.items():
            call = op.call().set(m=1, **self.sizes).scalars(**self.scalars)
            for buffer, role in op.buffers.items():
                if role == "prepared":
                    size, zero = call.bytes(buffer)
                    self.prepared[name][buffer] = self.memory.alloc(size, zero) if size else 0
            self._fill(call, op, name, {**self.constants, **weights}, stream)
            for buffer, role in op.buffers.items():  # nothing is run: these are only named
                if role == "output" and buffer != "overflow":
                    size, _ = call.bytes(buffer)
                    call.give(**{buffer: self.memory.workspace("output", size, False, stream)})
            if "x" in op.buffers:
                size, _ = call.bytes("x")
                call.give(x=self.memory.workspace("input", size, False, stream))
            call.bind().prepare(stream)

    def _fill(self, call, op, name, given, stream):
        call.give(**{buffer: address for buffer, address in given.items() if buffer in op.buffers})
        call.give(**self.prepared[name])
        for buffer, role in op.buffers.items():
            if role == "workspace":
                size, zero = call.bytes(buffer)
                if size:
                    call.give(**{buffer: self.memory.workspace((buffer, zero), size, zero, stream)})

    def run(self, m, stream=None, params=None, **addresses):
        """Launches on `stream`. `addresses`: the op's inputs and outputs by name (x, c, residual, sum, ...); what it lacks is left out."""
        if m < 1:
            raise ValueError("there must be at least one row")
        name = "large" if "large" in self.ops and (m >= self.threshold or "small" not in self.ops) else "small"
        key = (name, m, stream, tuple(sorted((params or {}).items())), tuple(sorted(addresses.items())))
        call = self.calls.get(key)
        if call is None:
            op = self.ops[name]
            call = op.call().set(m=m, **self.sizes, **(params or {})).scalars(**self.scalars)
            self._fill(call, op, name, {**self.constants, **addresses}, stream)
            call.bind()
            self.calls[key] = call
            while len(self.calls) > REMEMBERED:
                self.calls.popitem(last=False)
        else:
            self.calls.move_to_end(key)
        call.run(stream)


def _ops(context, op, scheme, threshold, options):
    def opened(name):
        return runtime.Op(context, runtime.folder(op, name, context.target, **options))
    ops = {}
    if threshold > 1 or scheme == "trivial":  # else no call is small, and the weight is not prepared for one
        ops["small"] = opened("trivial")
    if scheme != "trivial":
        ops["large"] = opened(scheme)
    return ops


class Linear(_Layer):
    """C = X W^T + bias, W as models store it: out x in."""

    def __init__(self, context, memory, inputs, outputs, weight, bias=0, type="f16", forms="f16", scheme="seven-write",
                 threshold=4096, stream=None):
        ops = _ops(context, "gemm", scheme, threshold, {"in_type": type, "forms": forms, "out_type": type})
        super().__init__(context, memory, {"n": outputs, "k": inputs}, ops, threshold)
        self.constants = {"bias": bias} if bias else {}
        self.sizes["inplace_y"] = 0  # the weight itself is not needed after this
        self._prepare({"y": weight}, stream)


class MLP(_Layer):
    """C = down(activation(gate X', up X')), X' = rmsnorm(X + residual) or X."""

    def __init__(self, context, memory, hidden, inner, gate, up, down, norm=0, eps=1e-6, norm_offset=0.0, gate_bias=0, up_bias=0,
                 down_bias=0, weight_scales=(1.0, 1.0), overflow=0, activation="swiglu", rounding="once",
                 product="c", type="f16", forms="f16", scheme="seven-write", threshold=1536, stream=None):
        settings = ["activation=" + activation, "rounding=" + rounding, "product=" + product]
        if not norm:
            settings.append("norm=none")
        if up_bias:
            settings.append("bias=yes")
        options = {"in_type": type, "forms": forms, "out_type": type, "with": ",".join(settings)}
        super().__init__(context, memory, {"hidden": hidden, "inner": inner}, _ops(context, "mlp", scheme, threshold, options), threshold)
        self.constants = {name: address for name, address in
                          {"norm": norm, "gate_bias": gate_bias, "up_bias": up_bias, "down_bias": down_bias}.items() if address}
        first, second = weight_scales  # powers of two that bring the weights into the range of their forms
        self.scalars = {"gate_up_scale": first, "x_scale": 1 / first, "down_scale": second, "act_scale": 1 / second}
        if norm:
            self.scalars.update(eps=eps, norm_offset=norm_offset)
        self._prepare({"gate": gate, "up": up, "down": down, "overflow": overflow}, stream)

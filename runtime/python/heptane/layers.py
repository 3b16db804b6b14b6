"""Layers on device addresses: weights prepared once, any number of rows per call. heptane.torch_layers wraps them for PyTorch.

A layer never allocates on its own: `memory` gives it device memory. It is an object with
  alloc(size, zero) -> address     memory that stays until the layer is gone (prepared weights)
  workspace(key, size, zero, stream) -> address     memory that may be shared by calls on one stream
"""
import collections
import concurrent.futures
import hashlib
import json
import os

from . import runtime

NOT_FOUND = 11       # status of heptane/status.h
MOST_ROWS = 1 << 20  # more are computed as so many are
REMEMBERED = 64      # bound calls that a layer keeps, by shape and addresses


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


def _layout(folder, sizes):
    """What the prepared weights of an operation folder depend on, with the sizes of their buffers: folders that agree in it can
    share them."""
    with open(os.path.join(folder, "op.json")) as file:
        op = json.load(file)
    text = [op["scheme"]["hash"], str(sorted(sizes.items()))]
    for name in sorted({step["package"] for step in op["steps"] if step["phase"] == "prepare"}):
        with open(os.path.join(folder, name, "kernel.cu")) as file:
            text.append(file.read())
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


class _Layer:
    """The ways to compute a layer, by number of rows. Weights are prepared once for every layout that one of them needs; kernels
    are compiled (or fetched from the cache) when the first call needs them."""

    def __init__(self, context, memory, sizes, choices, folder):
        self.context, self.memory, self.sizes = context, memory, sizes
        self.choices = choices              # Choices in the order of their rows; the last holds for all more
        self.folders = _all_folders(choices, folder)
        self.layouts = []                   # of each choice
        self.ops = {}                       # by folder
        self.prepared = {}                  # by layout: {buffer: address}
        self.calls = collections.OrderedDict()
        self.constants, self.scalars = {}, {}

    @property
    def buffers(self):
        """Names and roles of the operation's buffers, the same for all ways."""
        return next(iter(self.ops.values())).buffers

    def _op(self, number):
        folder = self.folders[number]
        if folder not in self.ops:
            self.ops[folder] = self.context.op(folder)
        return self.ops[folder]

    def _call(self, number, m, params=None, op=None):
        """A call with all that does not depend on addresses. Parameters that a Choice names do not override the caller's."""
        settings = dict(pair.split("=") for pair in self.choices[number].settings.split(",") if pair)
        wanted = {**{name: int(value) for name, value in settings.items()}, **(params or {})}
        op = op or self._op(number)
        return op.call().set(m=m, **self.sizes, **wanted).scalars(**self._scalars(op))

    def _scalars(self, op):
        return self.scalars

    def _looked_at(self, number):
        """The layout of a choice's prepared weights and the sizes of their buffers; a folder is read once for all layers of equal sizes."""
        folder = self.folders[number]
        key = folder, self.choices[number].settings, tuple(sorted(self.sizes.items()))
        if key not in self.context.layouts:
            op = runtime.Op(self.context, folder, kernels=False)
            call = self._call(number, 1, op=op)
            sizes = {buffer: call.bytes(buffer) for buffer, role in op.buffers.items() if role == "prepared"}
            self.context.layouts[key] = _layout(folder, sizes), sizes
        return self.context.layouts[key]

    def _prepare(self, weights, stream):
        looked_at = [self._looked_at(number) for number in range(len(self.choices))]
        self.layouts = [layout for layout, _ in looked_at]
        for number, (layout, sizes) in enumerate(looked_at):
            if layout in self.prepared:
                continue
            call, op = self._call(number, 1), self._op(number)
            self.prepared[layout] = {buffer: self.memory.alloc(size, zero) if size else 0 for buffer, (size, zero) in sizes.items()}
            self._fill(call, number, {**self.constants, **weights}, stream)
            for buffer, role in op.buffers.items():  # nothing is run: these are only named
                if role == "output" and buffer != "overflow":
                    size, _ = call.bytes(buffer)
                    call.give(**{buffer: self.memory.workspace("output", size, False, stream)})
            if "x" in op.buffers:
                size, _ = call.bytes("x")
                call.give(x=self.memory.workspace("input", size, False, stream))
            call.bind().prepare(stream)

    def _fill(self, call, number, given, stream):
        op = self._op(number)
        call.give(**{buffer: address for buffer, address in given.items() if buffer in op.buffers})
        call.give(**self.prepared[self.layouts[number]])
        for buffer, role in op.buffers.items():
            if role == "workspace":
                size, zero = call.bytes(buffer)
                if size:
                    call.give(**{buffer: self.memory.workspace((buffer, zero), size, zero, stream)})

    def number_for(self, m):
        """Which of `choices` computes m rows."""
        for number, choice in enumerate(self.choices):
            if m <= choice.rows:
                return number
        return len(self.choices) - 1

    def run(self, m, stream=None, params=None, **addresses):
        """Launches on `stream`. `addresses`: the op's inputs and outputs by name (x, c, residual, sum, ...); what it lacks is left out."""
        if m < 1:
            raise ValueError("there must be at least one row")
        number = self.number_for(m)
        key = (number, m, stream, tuple(sorted((params or {}).items())), tuple(sorted(addresses.items())))
        call = self.calls.get(key)
        if call is None:
            call = self._call(number, m, params)
            self._fill(call, number, {**self.constants, **addresses}, stream)
            call.bind()
            self.calls[key] = call
            while len(self.calls) > REMEMBERED:
                self.calls.popitem(last=False)
        else:
            self.calls.move_to_end(key)
        call.run(stream)


def _choices(context, op, types, n, k, scheme, threshold):
    """The ways to compute an operation, by number of rows: `scheme` from `threshold` rows on and otherwise what was tuned or is the
    default; without either, all as tuned or by default."""
    choices, m = [], 1
    while m <= MOST_ROWS and (threshold is None or m < threshold):
        choice = context.choose(op, types, m, n, k)
        m = choice.rows + 1
        if threshold is not None and choice.scheme != "trivial":
            choice = choice._replace(scheme="trivial", plan="", settings="", unchained=False)
        elif scheme and not choice.tuned and choice.scheme != "trivial":
            choice = choice._replace(scheme=scheme, plan="", settings="", unchained=False)
        if choices and choices[-1][:4] == choice[:4]:
            choices.pop()
        choices.append(choice)
    if threshold is not None:
        if choices:
            choices[-1] = choices[-1]._replace(rows=threshold - 1)
        choices.append(runtime.Choice(scheme or "seven-write", rows=MOST_ROWS))
    return choices


def _all_folders(choices, folder):
    """The folder of each choice. Several at once: each that is not there yet is made by a process of its own."""
    ways = list(dict.fromkeys(choice._replace(rows=0, tuned=False) for choice in choices))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(ways, pool.map(folder, ways)))
    return [found[choice._replace(rows=0, tuned=False)] for choice in choices]


def _finder(context, op, options):
    """From a Choice to its folder. Where only some were shipped and there is no command to make more, the plain ones do."""
    def folder(choice):
        more = {"plan": choice.plan, "chain": "none" if choice.unchained else ""}
        try:
            return runtime.folder(op, choice.scheme, context.target, **{**options, **more})
        except runtime.Error as error:
            if error.code != NOT_FOUND or not (choice.plan or choice.unchained):
                raise
            return runtime.folder(op, choice.scheme, context.target, **options)
    return folder


class Linear(_Layer):
    """C = X W^T + bias, W as models store it: out x in."""

    def __init__(self, context, memory, inputs, outputs, weight, bias=0, type="f16", forms="f16", scheme=None, threshold=None,
                 stream=None):
        types = " ".join((type, type, type, forms, "NT"))
        options = {"in_type": type, "forms": forms, "out_type": type}
        super().__init__(context, memory, {"n": outputs, "k": inputs},
                         _choices(context, "gemm", types, outputs, inputs, scheme, threshold), _finder(context, "gemm", options))
        self.constants = {"bias": bias} if bias else {}
        self.sizes["inplace_y"] = 0  # the weight itself is not needed after this
        self._prepare({"y": weight}, stream)


class MLP(_Layer):
    """C = down(activation(gate X', up X')), X' = rmsnorm(X + residual) or X.

    A norm's weight and offset must stay as they were when the layer was made: they are part of some prepared weights, and read at run
    time by the rest. Scales are powers of two that bring weights into the range of their forms: `weight_scales` those of gate and up,
    and of down; `norm_scale` those of gate and up besides, where they are multiplied by the norm's."""

    def __init__(self, context, memory, hidden, inner, gate, up, down, norm=0, eps=1e-6, norm_offset=0.0, gate_bias=0, up_bias=0,
                 down_bias=0, weight_scales=(1.0, 1.0), norm_scale=1.0, overflow=0, activation="swiglu", rounding="once", type="f16",
                 forms="f16", scheme=None, threshold=None, stream=None):
        settings = ["activation=" + activation, "rounding=" + rounding]
        if not norm:
            settings.append("norm=none")
        if up_bias:
            settings.append("bias=yes")
        options = {"in_type": type, "forms": forms, "out_type": type, "with": ",".join(settings)}
        types = " ".join((type, type, type, forms, activation))
        super().__init__(context, memory, {"hidden": hidden, "inner": inner},
                         _choices(context, "mlp", types, inner, hidden, scheme, threshold), _finder(context, "mlp", options))
        self.constants = {name: address for name, address in
                          {"norm": norm, "gate_bias": gate_bias, "up_bias": up_bias, "down_bias": down_bias}.items() if address}
        first, second = weight_scales
        self.scalars = {"gate_up_scale": first, "x_scale": 1 / first, "down_scale": second, "act_scale": 1 / second}
        self.normed = {"gate_up_scale": first * norm_scale, "x_scale": 1 / (first * norm_scale)}
        if norm:
            self.scalars.update(eps=eps, norm_offset=norm_offset)
        self._prepare({"gate": gate, "up": up, "down": down, "overflow": overflow}, stream)

    def _scalars(self, op):
        """An operation that normalises rows after the product has the norm's weight in those of gate and up, and this buffer."""
        return {**self.scalars, **self.normed} if "row_scales" in op.buffers else self.scalars

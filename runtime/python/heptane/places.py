"""Where tensors live: on a GPU, where an address is all that the runtime needs, or in the host's memory, from which they are
copied to the emulator and back, so that layers can be tried and tested without a GPU.

A place has a `context`, makes the `memory` of a layer, knows the current `stream`, and lends tensors as addresses.
"""
import contextlib
import ctypes

import torch

from . import layers, runtime

ZEROED = 1 << 18  # bytes that are zeroed at once


class _DeviceMemory:
    """Memory of one layer from PyTorch's allocator; workspaces are shared by all layers of the device."""

    def __init__(self, place):
        self.place, self.kept = place, []

    def alloc(self, size, zero=False):
        tensor = (torch.zeros if zero else torch.empty)(max(size, 16), dtype=torch.uint8, device=self.place.device)
        self.kept.append(tensor)
        return tensor.data_ptr()

    def workspace(self, key, size, zero, stream):
        return self.place.workspace(key, size, zero, stream)


class Device:
    """A CUDA device."""

    def __init__(self, index):
        self.device = torch.device("cuda", index)
        self.context = runtime.Context("gpu", index)
        self.shared, self.kept, self.zeroed, self.used = {}, [], None, 0
        self._more_zeroed(ZEROED)

    def memory(self):
        return _DeviceMemory(self)

    def stream(self):
        return torch.cuda.current_stream(self.device).cuda_stream

    def _more_zeroed(self, size):
        self.zeroed, self.used = torch.zeros(size, dtype=torch.uint8, device=self.device), 0
        self.kept.append(self.zeroed)
        torch.cuda.current_stream(self.device).synchronize()  # any stream may use it from now on

    def _take_zeroed(self, size):
        """Small counters. They come zeroed from before: filling them during a graph's capture would only be recorded."""
        size = (size + 255) // 256 * 256
        if self.used + size > self.zeroed.numel():
            self._more_zeroed(max(size, ZEROED))
        self.used += size
        return self.zeroed.data_ptr() + self.used - size

    def workspace(self, key, size, zero, stream):
        """Grows with the largest call; the old one stays, since captured graphs may refer to it."""
        address, had = self.shared.get((key, stream), (0, -1))
        if had < size:
            if zero:
                address = self._take_zeroed(size)
            else:
                self.kept.append(torch.empty(size, dtype=torch.uint8, device=self.device))
                address = self.kept[-1].data_ptr()
            self.shared[key, stream] = address, size
        return address

    def keep(self, memory, tensors):
        """Addresses of tensors that every call reads, for as long as the memory lives."""
        memory.kept.extend(tensors.values())
        return {name: tensor.data_ptr() for name, tensor in tensors.items()}

    @contextlib.contextmanager
    def lent(self, reads, writes):
        """Addresses of tensors while the runtime reads and writes them."""
        yield {name: tensor.data_ptr() for name, tensor in {**reads, **writes}.items()}


class Emulated:
    """The emulator: tensors in the host's memory are copied in and out."""

    def __init__(self):
        self.device, self.context = torch.device("cpu"), runtime.Context("emulator")

    def memory(self):
        return layers.OwnMemory(self.context)

    def stream(self):
        return None

    def _put(self, address, tensor):
        self.context.upload(address, ctypes.string_at(tensor.data_ptr(), tensor.nbytes))
        return address

    def keep(self, memory, tensors):
        return {name: self._put(memory.alloc(tensor.nbytes), tensor) for name, tensor in tensors.items()}

    @contextlib.contextmanager
    def lent(self, reads, writes):
        addresses = {}
        try:
            for name, tensor in {**reads, **writes}.items():
                addresses[name] = self.context.alloc(max(tensor.nbytes, 16))
                self._put(addresses[name], tensor)
            yield addresses
            for name, tensor in writes.items():
                ctypes.memmove(tensor.data_ptr(), self.context.download(addresses[name], tensor.nbytes), tensor.nbytes)
        finally:
            for address in addresses.values():
                self.context.free(address)


_places = {}


def place(tensor, backend=None):
    """The place of a tensor. `backend="emulator"` is asked for, since a layer there is slow beyond use."""
    if tensor.device.type != "cuda" and backend != "emulator":
        raise ValueError("the weights are on %s: move them to a CUDA device (or give backend=\"emulator\" to try the layer without "
                         "one, slowly)" % tensor.device)
    if backend == "emulator" and tensor.device.type != "cpu":
        raise ValueError("the emulator takes weights on the cpu, not on %s" % tensor.device)
    index = "emulator" if backend == "emulator" else tensor.device.index or 0
    if index not in _places:
        _places[index] = Emulated() if index == "emulator" else Device(index)
    return _places[index]

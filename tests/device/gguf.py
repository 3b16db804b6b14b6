"""Reads GGUF files (version 3, little-endian): metadata, and tensors as f32. Needs NumPy. The format is described in ggml's
docs/gguf.md; the quantised blocks read here are Q8_0 and Q4_1.

    metadata, tensors = gguf.read("model.gguf")       # tensors: name -> array, outermost dimension first
"""
import struct

import numpy

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Malformed(ValueError):
    pass


class _Cursor:
    def __init__(self, data, name):
        self.data, self.at, self.name = data, 0, name

    def take(self, size):
        if self.at + size > len(self.data):
            raise Malformed("%s: byte %d: the file ends within its header" % (self.name, self.at))
        self.at += size
        return self.data[self.at - size:self.at]

    def scalar(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))[0]

    def text(self):
        return bytes(self.take(self.scalar("Q"))).decode()

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            element, count = self.scalar("I"), self.scalar("Q")
            return [self.value(element) for _ in range(count)]
        if kind not in SCALARS:
            raise Malformed("%s: byte %d: a value of the unknown type %d" % (self.name, self.at, kind))
        return self.scalar(SCALARS[kind])


def _f32(blocks):
    return blocks["x"]


def _q8_0(blocks):
    """32 integers times one scale."""
    return blocks["d"].astype("f4")[:, None] * blocks["q"]


def _q4_1(blocks):
    """16 bytes: the low halves are elements 0 to 15, the high halves 16 to 31; times a scale, plus a minimum."""
    q = numpy.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1)
    return blocks["d"].astype("f4")[:, None] * q + blocks["m"].astype("f4")[:, None]


TYPES = {  # number in the file: elements of a block, its layout, how it is read
    0: (1, [("x", "<f4", (1,))], _f32),
    1: (1, [("x", "<f2", (1,))], _f32),
    3: (32, [("d", "<f2"), ("m", "<f2"), ("q", "u1", (16,))], _q4_1),
    8: (32, [("d", "<f2"), ("q", "i1", (32,))], _q8_0),
}


def _tensor(data, name, dims, kind, start):
    if kind not in TYPES:
        raise Malformed("tensor %s is of type %d; known are %s" % (name, kind, ", ".join(map(str, TYPES))))
    per_block, layout, read = TYPES[kind]
    count = int(numpy.prod(dims, dtype=numpy.int64))
    if dims[0] % per_block:
        raise Malformed("tensor %s: rows of %d are not made of blocks of %d" % (name, dims[0], per_block))
    blocks = count // per_block
    if start + blocks * numpy.dtype(layout).itemsize > len(data):
        raise Malformed("tensor %s ends behind the end of the file" % name)
    values = read(numpy.frombuffer(data, layout, blocks, start))
    return numpy.ascontiguousarray(values, "f4").reshape(dims[::-1])


def parse(data, name="gguf"):
    cursor = _Cursor(data, name)
    if bytes(cursor.take(4)) != b"GGUF" or cursor.scalar("I") != 3:
        raise Malformed("%s is no GGUF file of version 3" % name)
    tensor_count, pairs = cursor.scalar("Q"), cursor.scalar("Q")
    metadata = {}
    for _ in range(pairs):
        key = cursor.text()
        metadata[key] = cursor.value(cursor.scalar("I"))
    entries = []
    for _ in range(tensor_count):
        entry = cursor.text()
        dims = [cursor.scalar("Q") for _ in range(cursor.scalar("I"))]
        entries.append((entry, dims, cursor.scalar("I"), cursor.scalar("Q")))
    unit = metadata.get("general.alignment", 32)
    base = (cursor.at + unit - 1) // unit * unit
    return metadata, {entry: _tensor(data, entry, dims, kind, base + offset) for entry, dims, kind, offset in entries}


def read(path):
    with open(path, "rb") as file:
        return parse(file.read(), path)

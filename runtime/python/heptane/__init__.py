"""Heptane for Python: fast matrix multiplication schemes as layers. See README.md beside this package.

`Context`, `Op`, `Call` are the C API; `MLP` and `Linear` are PyTorch modules (PyTorch is imported when they are first used).
"""
from .runtime import Call, Context, Error, Op, folder

__all__ = ["Call", "Context", "Error", "Linear", "MLP", "Op", "folder"]


def __getattr__(name):
    if name in ("MLP", "Linear"):
        from . import torch_layers
        return getattr(torch_layers, name)
    raise AttributeError("module heptane has no attribute " + name)

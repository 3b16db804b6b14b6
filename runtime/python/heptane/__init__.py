"""Heptane for Python: fast matrix multiplication schemes as layers. See README.md beside this package.

`Context`, `Op`, `Call` are the C API; `MLP` and `Linear` are PyTorch modules and `replace_mlps` puts them into a model of
transformers (PyTorch is imported when they are first used).
"""
import importlib

from .runtime import Call, Context, Error, Op, folder

_LATE = {"Linear": "torch_layers", "MLP": "torch_layers", "replace_mlps": "models"}  # name: module that needs PyTorch

__all__ = ["Call", "Context", "Error", "Op", "folder", *_LATE]


def __getattr__(name):
    if name in _LATE:
        return getattr(importlib.import_module("." + _LATE[name], __name__), name)
    raise AttributeError("module heptane has no attribute " + name)

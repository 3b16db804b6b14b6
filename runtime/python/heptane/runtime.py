"""The runtime's C API (heptane/rt.h) by ctypes: contexts, operations, calls. No other module is needed.

The library is found as HEPTANE_LIBRARY, beside this package, in a build folder of the source tree, or on the loader's path.
"""
import collections
import ctypes
import hashlib
import os
import subprocess
import threading
import weakref

_here = os.path.dirname(os.path.abspath(__file__))


class Error(RuntimeError):
    """What the library answered: code, place, reason."""

    def __init__(self, code, where, message):
        super().__init__("%s: %s" % (where, message) if where else message)
        self.code, self.where = code, where


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("where", ctypes.c_char * 320), ("message", ctypes.c_char * 1200)]


class _ContextInfo(ctypes.Structure):
    _fields_ = [("backend", ctypes.c_char_p), ("device", ctypes.c_char_p), ("target", ctypes.c_char_p), ("sms", ctypes.c_int),
                ("memory_bytes", ctypes.c_int64)]


class _Choice(ctypes.Structure):
    _fields_ = [("scheme", ctypes.c_char * 128), ("plan", ctypes.c_char * 128), ("settings", ctypes.c_char * 128),
                ("unchained", ctypes.c_bool), ("tuned", ctypes.c_bool), ("rows", ctypes.c_int64)]


_P, _S, _U64, _I64, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int64, ctypes.c_size_t
_E = ctypes.POINTER(_Error)
_SIGNATURES = {  # name: arguments before the error, which all of these take last
    "hpt_context_open": [ctypes.POINTER(_P), _S, ctypes.c_int, _S],
    "hpt_device_alloc": [_P, ctypes.POINTER(_U64), _SIZE],
    "hpt_device_upload": [_P, _U64, _P, _SIZE],
    "hpt_device_download": [_P, _P, _U64, _SIZE],
    "hpt_device_fill": [_P, _U64, ctypes.c_int, _SIZE, _P],
    "hpt_device_synchronize": [_P, _P],
    "hpt_choose": [ctypes.POINTER(_Choice), _P, _S, _S, _I64, _I64, _I64],
    "hpt_op_open": [ctypes.POINTER(_P), _P, _S],
    "hpt_op_read": [ctypes.POINTER(_P), _P, _S],
    "hpt_call_create": [ctypes.POINTER(_P), _P],
    "hpt_call_set_param": [_P, _S, _I64],
    "hpt_call_set_scalar": [_P, _S, ctypes.c_double],
    "hpt_call_set_buffer": [_P, _S, _U64],
    "hpt_call_bytes": [_P, _S, ctypes.POINTER(_SIZE), ctypes.POINTER(ctypes.c_bool)],
    "hpt_call_bind": [_P],
    "hpt_call_prepare": [_P, _P],
    "hpt_call_run": [_P, _P],
}
_VOID = {"hpt_context_close": [_P], "hpt_op_close": [_P], "hpt_call_destroy": [_P], "hpt_device_free": [_P, _U64],
         "hpt_context_describe": [_P, ctypes.POINTER(_ContextInfo)]}


def _places():
    name = "libheptane_rt.so"
    if os.environ.get("HEPTANE_LIBRARY"):
        yield os.environ["HEPTANE_LIBRARY"]
    yield os.path.join(_here, name)
    root = os.path.join(_here, "..", "..", "..")
    for folder in ("build/lib", "build/runtime", "build"):
        yield os.path.join(root, folder, name)
    yield name


def _load():
    tried = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            break
        except OSError:
            tried.append(place)
    else:
        raise ImportError("libheptane_rt.so was not found (%s); set HEPTANE_LIBRARY to it." % ", ".join(tried))
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments + [_E], ctypes.c_int
    for name, arguments in _VOID.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, None
    library.hpt_op_buffer.argtypes = [_P, _SIZE, ctypes.POINTER(_S), ctypes.POINTER(_S)]
    library.hpt_op_buffer.restype = library.hpt_version.restype = _S
    return library


_library = None


def library():
    global _library
    if _library is None:
        _library = _load()
    return _library


def _check(name, *arguments):
    error = _Error()
    status = getattr(library(), name)(*arguments, ctypes.byref(error))
    if status != 0:
        raise Error(status, error.where.decode(errors="replace"), error.message.decode(errors="replace"))


def _bytes(text):
    return text.encode() if text is not None else None


class Context:
    """A device: "gpu", "emulator", or the first of them that works."""

    def __init__(self, backend=None, device=0, target=None):
        self._handle = _P()
        _check("hpt_context_open", ctypes.byref(self._handle), _bytes(backend), device, _bytes(target))
        info = _ContextInfo()
        library().hpt_context_describe(self._handle, ctypes.byref(info))
        self.ops = weakref.WeakValueDictionary()  # by folder
        self.layouts = {}  # what layers have learned of folders
        self.backend, self.device, self.target, self.sms = info.backend.decode(), info.device.decode(), info.target.decode(), info.sms

    def choose(self, op, types, m, n, k):
        """What is fastest for m rows as far as is known (hpt_choose): a Choice."""
        c = _Choice()
        _check("hpt_choose", ctypes.byref(c), self._handle, _bytes(op), _bytes(types), m, n, k)
        return Choice(c.scheme.decode(), c.plan.decode(), c.settings.decode(), c.unchained, c.tuned, c.rows)

    def op(self, folder):
        """The operation of a folder, loaded once for all that use it at a time."""
        op = self.ops.get(folder)
        if op is None:
            op = self.ops[folder] = Op(self, folder)
        return op

    def alloc(self, size):
        address = _U64()
        _check("hpt_device_alloc", self._handle, ctypes.byref(address), size)
        return address.value

    def free(self, address):
        library().hpt_device_free(self._handle, address)

    def upload(self, address, data):
        data = bytes(data)
        _check("hpt_device_upload", self._handle, address, data, len(data))

    def download(self, address, size):
        data = ctypes.create_string_buffer(size)
        _check("hpt_device_download", self._handle, data, address, size)
        return data.raw

    def fill(self, address, byte, size, stream=None):
        _check("hpt_device_fill", self._handle, address, byte, size, stream)

    def synchronize(self, stream=None):
        _check("hpt_device_synchronize", self._handle, stream)


# A way to compute an operation: scheme and plan of its kernels, parameters of the call ("cut=0"), whether without chaining; whether it
# was measured on this device; and up to how many rows it holds.
Choice = collections.namedtuple("Choice", "scheme plan settings unchained tuned rows", defaults=("", "", False, False, 0))


class Op:
    """An operation folder that `heptane emit` wrote, compiled and loaded; or, without `kernels`, to ask it for sizes only."""

    def __init__(self, context, folder, kernels=True):
        self.context, self._handle = context, _P()
        _check("hpt_op_open" if kernels else "hpt_op_read", ctypes.byref(self._handle), context._handle, _bytes(folder))
        self.buffers = {}  # name: role
        role, kind = _S(), _S()
        while True:
            name = library().hpt_op_buffer(self._handle, len(self.buffers), ctypes.byref(role), ctypes.byref(kind))
            if name is None:
                break
            self.buffers[name.decode()] = role.value.decode()

    def __del__(self):
        if getattr(self, "_handle", None):
            library().hpt_op_close(self._handle)

    def call(self):
        return Call(self)


class Call:
    """One shape of an operation on given memory. Bind after setting; then prepare and run as often as wanted."""

    def __init__(self, op):
        self.op, self._handle = op, _P()
        _check("hpt_call_create", ctypes.byref(self._handle), op._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            library().hpt_call_destroy(self._handle)

    def set(self, **params):
        for name, value in params.items():
            _check("hpt_call_set_param", self._handle, _bytes(name), value)
        return self

    def scalars(self, **values):
        for name, value in values.items():
            _check("hpt_call_set_scalar", self._handle, _bytes(name), value)
        return self

    def give(self, **addresses):
        for name, address in addresses.items():
            _check("hpt_call_set_buffer", self._handle, _bytes(name), address)
        return self

    def bytes(self, buffer):
        """Size of a buffer and whether it must be zero before its first use."""
        size, zero = _SIZE(), ctypes.c_bool()
        _check("hpt_call_bytes", self._handle, _bytes(buffer), ctypes.byref(size), ctypes.byref(zero))
        return size.value, zero.value

    def bind(self):
        _check("hpt_call_bind", self._handle)
        return self

    def prepare(self, stream=None):
        _check("hpt_call_prepare", self._handle, stream)

    def run(self, stream=None):
        _check("hpt_call_run", self._handle, stream)


def folder(op, scheme, target, **options):
    """The folder of an operation: from HEPTANE_PACKAGES (shipped ready-made) or the cache, else made by the command `heptane`."""
    words = ["--op", op, "--target", target]
    version = library().hpt_version().decode()  # another one may emit something else
    for name, value in sorted(options.items()):
        if value:
            words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
    label = "%s-%s-%s-%s" % (os.path.basename(scheme), op, target, hashlib.sha256(" ".join([version] + words).encode()).hexdigest()[:12])
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "heptane", "operations")
    for base in (os.environ.get("HEPTANE_PACKAGES"), cache):
        if base and os.path.exists(os.path.join(base, label, "op.json")):
            return os.path.join(base, label)
    made, temporary = os.path.join(cache, label), os.path.join(cache, "%s.%d.%d" % (label, os.getpid(), threading.get_ident()))
    command = os.environ.get("HEPTANE", "heptane")
    try:
        done = subprocess.run([command, "emit", scheme, "-o", temporary] + words, capture_output=True, text=True)
    except FileNotFoundError:
        raise Error(11, label, "The operation is not in HEPTANE_PACKAGES or the cache, and there is no command heptane (set "
                    "HEPTANE) to make it.") from None
    if done.returncode:
        raise Error(done.returncode, "heptane emit", done.stderr.strip())
    try:
        os.rename(temporary, made)
    except OSError:  # another process or thread was faster
        subprocess.run(["rm", "-rf", temporary])
    return made

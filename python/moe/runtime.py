# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs compiled layers through libmoe_runtime, which needs no compiler.

    with Bundle("layer.bundle") as bundle, Device("cuda") as device:
        layer = Layer(bundle, device)
        out, = layer.run(x, w_gate, w13, w2)       # NumPy in, NumPy out

To launch on memory that somebody else owns, such as tensors of PyTorch on the
same device, pass objects with `data_ptr()` and `shape`, results last; nothing
is copied and nothing waits:

        layer.launch([x, w_gate, w13, w2, out], workspace, stream=s.cuda_stream)

include/moe/Runtime/moe_runtime.h documents the calls below this. Arrays of bf16
are uint16 bit patterns in NumPy. The library is taken from MOE_RUNTIME_LIBRARY
where that is set, else from where the project builds or installs it.
"""

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path

MAX_RANK = 8
VERSION = 1
TYPES = ("f32", "f16", "bf16", "i32", "i64", "i8")
# NumPy's name of each; bf16 travels as bits.
NUMPY_TYPES = {"f32": "float32", "f16": "float16", "bf16": "uint16",
               "i32": "int32", "i64": "int64", "i8": "int8"}
STATUS = ("ok", "invalid argument", "invalid bundle", "no device", "device error", "out of memory")


class RuntimeFailure(RuntimeError):
    """A call failed; the message is the library's own. `status` is its kind."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = STATUS[status] if 0 <= status < len(STATUS) else str(status)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * MAX_RANK)]


class _Argument(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_int32), ("is_result", ctypes.c_int32),
                ("alignment", ctypes.c_uint32), ("shape", ctypes.c_int64 * MAX_RANK),
                ("strides", ctypes.c_int64 * MAX_RANK)]


class _Kernel(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("schedule", ctypes.c_char_p),
                ("threads", ctypes.c_uint32), ("shared_bytes", ctypes.c_uint32)]


class _Variant(ctypes.Structure):
    _fields_ = [("min_tokens", ctypes.c_int64), ("max_tokens", ctypes.c_int64),
                ("num_launches", ctypes.c_size_t), ("num_tensor_maps", ctypes.c_size_t),
                ("num_workspace_buffers", ctypes.c_size_t)]


class _Timing(ctypes.Structure):
    _fields_ = [("device", ctypes.c_double), ("host", ctypes.c_double)]


_P, _S, _I64, _U64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_uint64
_OUT, _TEXT = ctypes.c_void_p, ctypes.c_char_p  # an address to write to; a text
_TENSORS = ctypes.POINTER(_Tensor)
# Calls that return a status, and those that return something else.
_STATUS_CALLS = {
    "moe_bundle_open": (_TEXT, _OUT),
    "moe_bundle_parse": (_TEXT, _S, _TEXT, _S, _OUT),
    "moe_bundle_argument": (_P, _S, _OUT),
    "moe_bundle_argument_is_written": (_P, _S, _OUT),
    "moe_bundle_random_input": (_P, _TENSORS, _S, _S, _OUT, _OUT),
    "moe_bundle_set_tokens": (_P, _I64, _TENSORS, _S),
    "moe_bundle_solve_shapes": (_P, _TENSORS, _S),
    "moe_bundle_workspace": (_P, _TENSORS, _S, _OUT),
    "moe_bundle_kernel": (_P, _S, _OUT),
    "moe_bundle_variant": (_P, _S, _OUT),
    "moe_bundle_launch": (_P, _S, _S, _OUT),
    "moe_bundle_choose": (_P, _TENSORS, _S, _OUT),
    "moe_device_open": (_TEXT, ctypes.c_int, _OUT),
    "moe_device_allocate": (_P, _U64, _OUT),
    "moe_device_upload": (_P, _P, _P, _U64),
    "moe_device_download": (_P, _P, _P, _U64),
    "moe_device_synchronize": (_P,),
    "moe_layer_load": (_P, _P, _OUT),
    "moe_layer_launch": (_P, _TENSORS, _S, _P, _U64, _P),
    "moe_layer_time": (_P, _TENSORS, _S, _P, _U64, ctypes.c_uint32, _OUT),
}
_OTHER_CALLS = {
    "moe_runtime_version": (ctypes.c_uint32, ()),
    "moe_last_error": (_TEXT, ()),
    "moe_bundle_close": (None, (_P,)),
    "moe_bundle_function": (_TEXT, (_P,)),
    "moe_bundle_arch": (_TEXT, (_P,)),
    "moe_bundle_num_arguments": (_S, (_P,)),
    "moe_bundle_num_kernels": (_S, (_P,)),
    "moe_bundle_num_variants": (_S, (_P,)),
    "moe_device_close": (None, (_P,)),
    "moe_device_description": (_TEXT, (_P,)),
    "moe_device_arch": (_TEXT, (_P,)),
    "moe_device_free": (None, (_P, _P)),
    "moe_layer_unload": (None, (_P,)),
    "moe_layer_code": (_TEXT, (_P,)),
}

_library = None


def _candidates():
    name = "libmoe_runtime.so"
    if os.environ.get("MOE_RUNTIME_LIBRARY"):
        return [os.environ["MOE_RUNTIME_LIBRARY"]]
    here = Path(__file__).resolve()
    # Beside the package, in the tree it was checked out in, then the system's.
    beside = [here.parent / name, here.parents[2] / "lib" / name,
              here.parents[2] / "build" / "lib" / name]
    return [str(path) for path in beside if path.exists()] + [name]


def library():
    """The loaded library; OSError names the places where it is not."""
    global _library
    if _library is not None:
        return _library
    failures = []
    for candidate in _candidates():
        try:
            loaded = ctypes.CDLL(candidate)
            break
        except OSError as error:
            failures.append(str(error))
    else:
        raise OSError("cannot load libmoe_runtime: " + "; ".join(failures))
    for name, parameters in _STATUS_CALLS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_int, parameters
    for name, (result, parameters) in _OTHER_CALLS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, parameters
    version = loaded.moe_runtime_version()
    if version != VERSION:
        raise OSError(f"{candidate} is version {version} of the interface, this package needs {VERSION}")
    _library = loaded
    return loaded


def _call(name, *args):
    """Calls; a status other than ok becomes an exception."""
    loaded = library()
    status = getattr(loaded, name)(*args)
    if status:
        raise RuntimeFailure(status, loaded.moe_last_error().decode(errors="replace"))


def _make(name, *args):
    """The handle that a call writes to its last parameter."""
    handle = ctypes.c_void_p()
    _call(name, *args, ctypes.byref(handle))
    return handle


class _Handle:
    """An object of the library, closed at the end of a `with` or by hand."""

    _handle = None
    _close = ""

    def close(self):
        handle, self._handle = self._handle, None
        if handle:
            getattr(library(), self._close)(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@dataclass(frozen=True)
class Argument:
    """What a bundle says of an argument; None stands for what the call gives.

    `is_written` holds for results and for what the layer changes in place.
    """

    type: str
    shape: tuple
    strides: tuple
    alignment: int
    is_result: bool
    is_written: bool


@dataclass(frozen=True)
class Variant:
    """The launch list for `tokens` = (min, max); max None: no bound."""

    tokens: tuple
    kernels: tuple


class Bundle(_Handle):
    """A folder that moe-compile wrote, or the two texts of one."""

    _close = "moe_bundle_close"

    def __init__(self, path=None, *, manifest=None, ptx=None):
        if path is not None:
            self._handle = _make("moe_bundle_open", os.fsencode(path))
        else:
            texts = [t.encode() if isinstance(t, str) else t for t in (manifest, ptx)]
            self._handle = _make("moe_bundle_parse", texts[0], len(texts[0]), texts[1], len(texts[1]))
        loaded = library()
        self.function = loaded.moe_bundle_function(self._handle).decode()
        self.arch = loaded.moe_bundle_arch(self._handle).decode()
        self.arguments = [self._argument(i)
                          for i in range(loaded.moe_bundle_num_arguments(self._handle))]
        self.variants = [self._variant(i)
                         for i in range(loaded.moe_bundle_num_variants(self._handle))]

    def _argument(self, index):
        raw = _Argument()
        _call("moe_bundle_argument", self._handle, index, ctypes.byref(raw))
        shape = tuple(None if e < 0 else e for e in raw.shape[:raw.rank])
        strides = None if raw.rank == 0 or raw.strides[0] < 0 else tuple(raw.strides[:raw.rank])
        written = ctypes.c_int32()
        _call("moe_bundle_argument_is_written", self._handle, index, ctypes.byref(written))
        return Argument(TYPES[raw.type], shape, strides, raw.alignment, bool(raw.is_result),
                        bool(written.value))

    def _variant(self, index):
        raw, number, kernels = _Variant(), ctypes.c_size_t(), []
        _call("moe_bundle_variant", self._handle, index, ctypes.byref(raw))
        for launch in range(raw.num_launches):
            kernel = _Kernel()
            _call("moe_bundle_launch", self._handle, index, launch, ctypes.byref(number))
            _call("moe_bundle_kernel", self._handle, number, ctypes.byref(kernel))
            kernels.append(kernel.name.decode())
        upper = None if raw.max_tokens < 0 else raw.max_tokens
        return Variant((raw.min_tokens, upper), tuple(kernels))

    def tensors(self, shapes=None, addresses=None):
        """The array of arguments that the calls take; an extent None is open."""
        count = len(self.arguments)
        tensors = (_Tensor * count)()
        for i, argument in enumerate(self.arguments):
            shape = argument.shape if shapes is None or shapes[i] is None else tuple(shapes[i])
            if len(shape) != len(argument.shape):
                raise ValueError(f"argument {i} has {len(argument.shape)} dimensions, but got {len(shape)}")
            for j, extent in enumerate(shape):
                tensors[i].shape[j] = -1 if extent is None else extent
            if addresses is not None:
                tensors[i].data = addresses[i]
        return tensors

    def solve(self, shapes=None, tokens=None):
        """All shapes, from those given (None: not) and the number of tokens."""
        tensors = self.tensors(shapes)
        if tokens is not None:
            _call("moe_bundle_set_tokens", self._handle, tokens, tensors, len(tensors))
        _call("moe_bundle_solve_shapes", self._handle, tensors, len(tensors))
        return [tuple(t.shape[:len(a.shape)]) for t, a in zip(tensors, self.arguments)]

    def workspace_bytes(self, shapes):
        """Bytes of workspace that a call with these shapes needs."""
        result, tensors = ctypes.c_uint64(), self.tensors(shapes)
        _call("moe_bundle_workspace", self._handle, tensors, len(tensors), ctypes.byref(result))
        return result.value

    def choose(self, shapes):
        """The number of the variant that a call with these shapes takes."""
        result, tensors = ctypes.c_size_t(), self.tensors(shapes)
        _call("moe_bundle_choose", self._handle, tensors, len(tensors), ctypes.byref(result))
        return result.value

    def random_input(self, shapes, index):
        """(role, bound) for moe.random_inputs.generate; role None: no rule."""
        role, bound, tensors = ctypes.c_char_p(), ctypes.c_int64(), self.tensors(shapes)
        _call("moe_bundle_random_input", self._handle, tensors, len(tensors), index,
              ctypes.byref(role), ctypes.byref(bound))
        return (role.value.decode() if role.value else None), bound.value


class Device(_Handle):
    """A device; memory on it for those who bring none."""

    _close = "moe_device_close"

    def __init__(self, kind="cuda", ordinal=0):
        self._handle = _make("moe_device_open", kind.encode(), ordinal)
        self.description = library().moe_device_description(self._handle).decode()
        self.arch = library().moe_device_arch(self._handle).decode()

    def allocate(self, size):
        """The address of `size` bytes, aligned to 256."""
        return _make("moe_device_allocate", self._handle, size).value

    def free(self, address):
        library().moe_device_free(self._handle, address)

    def upload(self, address, array):
        """Copies a C-contiguous NumPy array to the device."""
        if not array.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied")
        _call("moe_device_upload", self._handle, address, array.ctypes.data, array.nbytes)

    def download(self, array, address):
        """Copies from the device into a C-contiguous NumPy array."""
        if not array.flags.c_contiguous:
            raise ValueError("only C-contiguous arrays can be copied")
        _call("moe_device_download", self._handle, array.ctypes.data, address, array.nbytes)

    def synchronize(self):
        _call("moe_device_synchronize", self._handle)


def _address_of(tensor):
    if hasattr(tensor, "data_ptr"):
        return tensor.data_ptr()
    raise TypeError(f"a device tensor has data_ptr() and shape, {type(tensor).__name__} has not")


class Layer(_Handle):
    """A bundle loaded onto a device; keeps both alive."""

    _close = "moe_layer_unload"

    def __init__(self, bundle, device):
        self._handle = _make("moe_layer_load", bundle._handle, device._handle)
        self.bundle, self.device = bundle, device
        self.code = library().moe_layer_code(self._handle).decode()

    def launch(self, tensors, workspace=None, stream=None, workspace_bytes=None):
        """Enqueues the layer on device tensors, results last.

        `workspace` is a device tensor, or an address with `workspace_bytes`;
        `stream` the address of a stream, None the default one.
        """
        args = self.bundle.tensors([tuple(t.shape) for t in tensors],
                                   [_address_of(t) for t in tensors])
        if workspace is not None and hasattr(workspace, "data_ptr"):
            workspace_bytes = workspace.numel() * workspace.element_size()
            workspace = workspace.data_ptr()
        self.launch_raw(args, workspace, workspace_bytes or 0, stream)

    def launch_raw(self, args, workspace, workspace_bytes, stream=None):
        """As `launch`, on what Bundle.tensors returned: the least work per call."""
        _call("moe_layer_launch", self._handle, args, len(args), workspace, workspace_bytes, stream)

    def time(self, args, workspace, workspace_bytes, repeats=200):
        """(device, host) microseconds per call."""
        timing = _Timing()
        _call("moe_layer_time", self._handle, args, len(args), workspace, workspace_bytes, repeats,
              ctypes.byref(timing))
        return timing.device, timing.host

    def run(self, *inputs, result_shapes=None, repeats=1):
        """The results for NumPy inputs.

        Results and workspace start as NaN (integers: -1), and so does what lies
        between the rows of an argument with strides. Addresses are multiples of
        the alignment that the bundle states and of no more. `result_shapes` is
        for results whose extents do not follow from those of the inputs.
        """
        import numpy as np

        arguments, arrays = self.bundle.arguments, []
        given, shapes = iter(inputs), iter(result_shapes or [])
        for i, argument in enumerate(arguments):
            if argument.is_result:
                arrays.append(next(shapes, None))
                continue
            array = next(given, None)
            if array is None:
                raise ValueError(f"argument {i} is missing")
            array = np.ascontiguousarray(array)
            if array.dtype != NUMPY_TYPES[argument.type]:
                raise ValueError(f"argument {i} is of {argument.type}, but got {array.dtype}")
            arrays.append(array)
        if next(given, None) is not None:
            raise ValueError(f"got {len(inputs)} inputs, which is too many")
        shapes = self.bundle.solve([getattr(a, "shape", a) for a in arrays])
        placed = []
        for argument, array, shape in zip(arguments, arrays, shapes):
            memory, view = _unwritten(argument, shape)
            if not argument.is_result:
                view[...] = array
            placed.append((memory, view))
        return self._run(placed, shapes, repeats)

    def _run(self, placed, shapes, repeats):
        import numpy as np

        bundle, device, blocks, addresses = self.bundle, self.device, [], []
        size = bundle.workspace_bytes(shapes)
        try:
            for argument, (memory, _) in zip(bundle.arguments, placed):
                start = argument.alignment % 256
                blocks.append(device.allocate(memory.nbytes + start))
                addresses.append(blocks[-1] + start)
                device.upload(addresses[-1], memory)
            blocks.append(device.allocate(size))
            device.upload(blocks[-1], np.full(size, 0xFF, np.uint8))
            args = bundle.tensors(shapes, addresses)
            for _ in range(repeats):
                self.launch_raw(args, blocks[-1], size)
            device.synchronize()
            results = []
            for argument, address, (memory, view) in zip(bundle.arguments, addresses, placed):
                if argument.is_result:
                    device.download(memory, address)
                    results.append(np.ascontiguousarray(view))
            return results
        finally:
            for block in blocks:
                device.free(block)


def _unwritten(argument, shape):
    """(memory, view): a flat array of poison, and the part of it that is the
    argument, with its strides."""
    import numpy as np

    dtype = np.dtype(NUMPY_TYPES[argument.type])
    strides = argument.strides
    if strides is None:
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
    span = 0 if 0 in shape else 1 + sum((e - 1) * s for e, s in zip(shape, strides))
    # Bytes of 255: a NaN in every float format, -1 in every integer.
    memory = np.full(span * dtype.itemsize, 0xFF, np.uint8).view(dtype)
    view = np.lib.stride_tricks.as_strided(memory, shape, [s * dtype.itemsize for s in strides])
    return memory, view

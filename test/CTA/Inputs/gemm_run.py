# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of gemm_kernels.py on a GPU against numpy in float32."""

import ctypes
import json
import os

import numpy as np

CU = None


def check(code, what):
    if code:
        text = ctypes.c_char_p()
        CU.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value}")


class Buffer:
    """Device memory that holds an array."""

    def __init__(self, array):
        self.array = np.ascontiguousarray(array)
        self.pointer = ctypes.c_uint64()
        check(CU.cuMemAlloc_v2(ctypes.byref(self.pointer), ctypes.c_size_t(max(self.array.nbytes, 16))), "alloc")
        check(CU.cuMemcpyHtoD_v2(self.pointer, ctypes.c_void_p(self.array.ctypes.data), ctypes.c_size_t(self.array.nbytes)), "copy in")

    def read(self):
        check(CU.cuMemcpyDtoH_v2(ctypes.c_void_p(self.array.ctypes.data), self.pointer, ctypes.c_size_t(self.array.nbytes)), "copy out")
        return self.array

    def free(self):
        CU.cuMemFree_v2(self.pointer)


def pack(values, kind):
    """float32 to the bits of bf16 (round to nearest even), f16 or f32."""
    values = np.asarray(values, np.float32)
    if kind == "f32":
        return values
    if kind == "f16":
        return values.astype(np.float16)
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def unpack(bits, kind):
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.astype(np.float32)


def align(ids, experts, block):
    """Rows sorted by expert, each expert padded to whole blocks, and two more
    blocks of nothing."""
    flat, sentinel = ids.reshape(-1), ids.size
    rows, tiles = [], []
    for expert in range(experts):
        mine = np.nonzero(flat == expert)[0]
        count = -(-len(mine) // block) * block
        rows.append(np.concatenate([mine, np.full(count - len(mine), sentinel)]))
        tiles += [expert] * (count // block)
    padded = sum(len(r) for r in rows)
    rows.append(np.full(2 * block, sentinel))
    return np.concatenate(rows).astype(np.int32), np.array(tiles + [-1, -1], np.int32), padded


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def activate(kind, h, interleaved, limit):
    """The activations as their definition writes them, in float64."""
    if not kind:
        return h
    if kind in ("silu", "gelu", "relu2"):
        return {"silu": lambda x: x * sigmoid(x), "gelu": gelu, "relu2": lambda x: np.maximum(x, 0) ** 2}[kind](h)
    half = h.shape[1] // 2
    g, u = (h[:, 0::2], h[:, 1::2]) if interleaved else (h[:, :half], h[:, half:])
    bound = limit or np.inf
    low, clamp = np.minimum(g, bound), np.clip(u, -bound, bound)
    return {
        "swiglu": lambda: low * sigmoid(low) * clamp,
        "swigluoai": lambda: (clamp + 1) * low * sigmoid(1.702 * low),
        "swiglustep": lambda: np.minimum(g * sigmoid(g), bound) * clamp,
        "geglu": lambda: gelu(g) * u,
        "situ": lambda: 4 * np.tanh(g / 4) * sigmoid(g) * 25 * np.tanh(u / 25),
    }[kind]()


def tensor_map(b, options, box):
    """Weights as {K, rows of a part, parts, E} with a 128-byte swizzle."""
    e, n, k = options.get("experts", 1), options["n"], options["k"]
    row = 2 * k
    if len(box) == 3:
        dims, strides = [k, n, e], [row, n * row]
    else:
        half = n // 2
        dims = [k, half, 2, e]
        strides = [2 * row, row, n * row] if options.get("interleaved") else [row, half * row, n * row]
    storage = (ctypes.c_uint8 * 192)()
    address = (ctypes.addressof(storage) + 63) // 64 * 64
    u64, u32, rank = ctypes.c_uint64, ctypes.c_uint32, len(dims)
    kind = 6 if options.get("element") == "f16" else 9
    check(
        CU.cuTensorMapEncodeTiled(
            ctypes.c_void_p(address), kind, rank, b.pointer, (u64 * rank)(*dims), (u64 * (rank - 1))(*strides),
            (u32 * rank)(*box), (u32 * rank)(*[1] * rank), 0, 3, 3, 0),
        "tensor map")
    return storage, address


def problem(case, rng):
    """Arrays of one case and the expected rows of c."""
    o, tokens, block = case["options"], case["tokens"], case["options"]["block"]
    e, n, k, top_k = o.get("experts", 1), o["n"], o["k"], o.get("top_k", 1)
    kind = o.get("element", "bf16")
    if o.get("dense"):
        ids = np.zeros((tokens, 1), np.int64)
    else:
        ids = np.argsort(rng.random((tokens, e)), axis=1)[:, :top_k]
        ids[rng.random(ids.shape) < 0.05] = -1
        ids[ids == e - 1] = e - 2  # an expert without rows
    rows = ids.size
    sorted_rows, tiles, padded = align(ids, e, block)
    a_rows = len(sorted_rows) if o.get("sorted_a") else tokens if o.get("token_rows") else rows
    a = pack(rng.random((a_rows, k)) - 0.5, kind)
    b = pack((rng.random((e, n, k)) - 0.5) / np.sqrt(k) * 8, kind)
    bias = pack(rng.random((e, n)) - 0.5, o["bias"]) if o.get("bias") else None
    weights = rng.random(rows).astype(np.float32)
    out_n = n // 2 if o.get("activation", "") in ("swiglu", "swigluoai", "swiglustep", "geglu", "situ") else n
    out_rows = len(sorted_rows) if o.get("sorted_c") else rows
    want = np.full((out_rows, out_n), np.nan, np.float32)
    af, bf = unpack(a, kind), unpack(b, kind)
    places = range(rows) if o.get("dense") else range(padded)
    for p in places:
        r = p if o.get("dense") else sorted_rows[p]
        if r >= rows:
            continue
        expert = 0 if o.get("dense") else ids.reshape(-1)[r]
        source = p if o.get("sorted_a") else r // top_k if o.get("token_rows") else r
        h = (af[source] @ bf[expert].T)[None].astype(np.float64)
        if o.get("weight") == "input":
            h *= weights[r]
        if bias is not None:
            h += unpack(bias[expert], o["bias"])
        h = activate(o.get("activation"), h, o.get("interleaved"), o.get("limit"))
        if o.get("weight") == "output":
            h *= weights[r]
        want[p if o.get("sorted_c") else r] = h[0]
    return dict(a=a, b=b, sorted=sorted_rows, tiles=tiles, padded=padded, bias=bias, weights=weights, rows=rows, want=want)


def launch(case, function, data, sms):
    """c after one launch; it starts as NaN."""
    o = case["options"]
    output = o.get("output", "bf16")
    start = pack(np.full(data["want"].shape, np.nan, np.float32), output)
    if output == "bf16":
        start[:] = 0x7FC0
    c = Buffer(start)
    buffers = {name: Buffer(data[name]) for name in ("a", "b", "sorted", "tiles", "weights")}
    buffers["padded"] = Buffer(np.array([data["padded"]], np.int32))
    values, keep = [buffers["a"].pointer], []
    if case["family"] == "wgmma":
        keep, address = tensor_map(buffers["b"], o, case["box"])
        values.append((ctypes.c_uint8 * 128).from_address(address))
    else:
        values.append(buffers["b"].pointer)
    if not o.get("dense"):
        values += [buffers[name].pointer for name in ("sorted", "tiles", "padded")]
    if data["bias"] is not None:
        buffers["bias"] = Buffer(data["bias"])
        values.append(buffers["bias"].pointer)
    if o.get("weight"):
        values.append(buffers["weights"].pointer)
    values += [c.pointer, ctypes.c_int32(data["rows"])]
    arguments = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    check(CU.cuFuncSetAttribute(function, 8, case["shared"]), "shared memory")
    check(CU.cuLaunchKernel(function, sms * case["per_sm"], 1, 1, case["threads"], 1, 1, case["shared"], None, arguments, None), "launch")
    check(CU.cuCtxSynchronize(), "run")
    result = unpack(c.read(), output)
    for buffer in [c, *buffers.values()]:
        buffer.free()
    del keep
    return result


def run(folder, *names):
    global CU
    CU = ctypes.CDLL("libcuda.so.1")
    device, context, sms = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
    check(CU.cuInit(0), "init")
    check(CU.cuDeviceGet(ctypes.byref(device), 0), "device")
    check(CU.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(CU.cuCtxSetCurrent(context), "context")
    check(CU.cuDeviceGetAttribute(ctypes.byref(sms), 16, device), "attribute")
    bad = 0
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    for case in manifest:
        if names and case["name"] not in names:
            continue
        data = problem(case, np.random.default_rng(7))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        with open(os.path.join(folder, case["name"] + ".ptx"), "rb") as file:
            check(CU.cuModuleLoadData(ctypes.byref(module), file.read() + b"\0"), "load " + case["name"])
        check(CU.cuModuleGetFunction(ctypes.byref(function), module, case["name"].encode()), "function")
        got = launch(case, function, data, sms.value)
        again = launch(case, function, data, 3)
        want = data["want"]
        written = ~np.isnan(want)
        error = np.linalg.norm(got[written] - want[written]) / np.linalg.norm(want[written])
        kept = np.array_equal(np.isnan(got), ~written)
        same = np.array_equal(got, again, equal_nan=True)
        most = {"bf16": 5e-3, "f16": 2e-3, "f32": 1e-5}[case["options"].get("output", "bf16")]
        ok = kept and same and error < most
        bad += not ok
        print(f"{'ok' if ok else 'BAD'} {case['name']}: relative error {error:.2e}, unwritten rows kept {kept}, any grid gives the same {same}", flush=True)
    return bad

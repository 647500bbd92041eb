# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launches of a bundle, one by one in moe-emu, each from files of its own.

A kernel that was run once, with its arguments as files and its results kept, can
be run again and again alone: changed, and compared."""

import json
import os
import re
import subprocess

import numpy as np

NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "i32": np.int32,
         "i64": np.int64, "i8": np.int8}
TIME_LIMIT = 60
# A kernel that fills its table with sentinels before it writes the rows.
FILLS_FIRST = "2_align"
# Fewer than there are tiles: blocks compute several.
GEMM_BLOCKS = 2


def evaluate(expression, shapes):
    """The value of an expression of a manifest."""
    if not isinstance(expression, list):
        return expression
    operation, a, b = expression
    if operation == "dim":
        return shapes[a][b]
    a, b = evaluate(a, shapes), evaluate(b, shapes)
    return {"add": lambda: a + b, "mul": lambda: a * b, "floordiv": lambda: a // b,
            "ceildiv": lambda: -(-a // b), "mod": lambda: a % b, "max": lambda: max(a, b),
            "min": lambda: min(a, b)}[operation]()


class Kernel:
    """One launch: its text, command line and what it is known to write."""

    def __init__(self, name, text, options, buffers, folder):
        self.name, self.text, self.options, self.folder = name, text, options, folder
        self.buffers = buffers  # name -> (type, file or None, elements)
        self.contracts = []
        self.expected = {}  # name -> array, of the buffers that it writes

    def changed(self, option, changes):
        """An option of the command line, with what a mutant makes of it."""
        name, value = option.split("=", 1)
        if name == "--shared":
            return f"{name}={int(value) + changes.get(name, 0)}"
        if name == "--map" and name in changes:
            old, new = changes[name]
            if old not in value:
                raise ValueError(f"{option} has no {old}")
            return f"{name}={value.replace(old, new)}"
        return option

    def command(self, text, changes, saves, seed):
        path = os.path.join(self.folder, "kernel.ptx")
        with open(path, "w") as file:
            file.write(text)
        command = ["moe-emu", path, "--json", "--threads=1", f"--seed={seed}"]
        for number, (name, (kind, file, elements)) in enumerate(self.buffers.items()):
            # Buffers are numbered as the kernel takes them.
            fewer = changes.get(f"b{number}", 0)
            if file and fewer:
                shorter = os.path.join(self.folder, "shorter.npy")
                np.save(shorter, np.load(file)[:fewer])
                file = shorter
            command.append(f"--buffer={name}:{kind}:{file or f'new={elements + fewer}'}")
        if not any(name.startswith("b") for name in changes):
            command += self.contracts
        command += [self.changed(option, changes) for option in self.options]
        return command + [f"--save={name}:{file}" for name, file in saves.items()]

    def run(self, text=None, changes=None, seed=0, names=None):
        """(hazards, {name: array}) of a run; (None, message) where it cannot be run."""
        names = self.expected if names is None else names
        saves = {name: os.path.join(self.folder, f"found-{name}.npy") for name in names}
        command = self.command(text or self.text, changes or {}, saves, seed)
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
        if result.returncode not in (0, 2):
            return None, result.stderr
        hazards = json.loads(result.stdout)["hazards"]
        return hazards, {name: np.load(file) for name, file in saves.items()}


def split(text):
    """{kernel: a PTX text with this kernel alone}."""
    entries = list(re.finditer(r"^// (\w+)\n(?=// )", text, re.M))
    head = text[: entries[0].start()]
    ends = [entry.start() for entry in entries[1:]] + [len(text)]
    return {entry.group(1): head + text[entry.start(): end]
            for entry, end in zip(entries, ends)}


class Bundle:
    """What a bundle launches for some arguments."""

    def __init__(self, path, arguments, variant, folder, idle):
        """`idle`: argument -> range of elements that nobody may touch."""
        self.folder, self.idle = folder, idle
        with open(os.path.join(path, "manifest.json")) as file:
            self.manifest = json.load(file)
        with open(os.path.join(path, "kernels.ptx")) as file:
            self.texts = split(file.read())
        self.variant = self.manifest["variants"][variant]
        self.shapes = {i: array.shape for i, array in enumerate(arguments)}
        self.types, self.files = {}, {}
        declared = self.manifest["arguments"]
        for i, buffer in enumerate(declared + self.variant["workspace"]):
            self.types[i] = buffer["type"]
            self.shapes[i] = [evaluate(extent, self.shapes) for extent in buffer["shape"]]
            self.files[i] = None
        for i, array in enumerate(arguments):
            self.keep(i, array)

    def keep(self, index, array):
        self.files[index] = os.path.join(self.folder, f"{index}-{len(os.listdir(self.folder))}.npy")
        np.save(self.files[index], array.reshape(-1))

    def argument(self, argument, options, used):
        if "buffer" in argument:
            used[argument["buffer"]] = True
            return f"b{argument['buffer']}"
        if "scalar" in argument:
            return str(evaluate(argument["scalar"], self.shapes))
        index = argument["map"]
        tensor = self.variant["maps"][index]
        used[tensor["buffer"]] = True
        size = np.dtype(NUMPY[tensor["type"]]).itemsize
        backwards = {key: [evaluate(value, self.shapes) for value in reversed(tensor[key])]
                     for key in ("shape", "strides", "box")}
        strides = [stride * size for stride in backwards["strides"][1:]]
        lists = [",".join(map(str, values))
                 for values in (backwards["shape"], strides, backwards["box"])]
        options.append(f"--map=m{index}:b{tensor['buffer']}:dims={lists[0]}:strides={lists[1]}"
                       f":box={lists[2]}:swizzle={tensor['swizzle']}")
        return f"m{index}"

    def contracts(self, kernel, before):
        """What this kernel may do to its buffers; what one of floats holds in the
        end says which rows nobody is to touch."""
        contracts = []
        for name, (kind, _, elements) in kernel.buffers.items():
            index = int(name[1:])
            text = f"--contract={name}"
            if name not in kernel.expected:
                text += ":no-write"
            elif before[index] is None and not kernel.name.endswith(FILLS_FIRST):
                text += ":once"
            if index in self.idle:
                first, last = self.idle[index]
                text += f":untouched={first}-{last - 1}"
            elif name in kernel.expected and before[index] is None and kind == "bf16":
                nobody = np.flatnonzero(kernel.expected[name] == 0xffff)
                text += ":complete"
                if len(nobody):
                    gaps = np.flatnonzero(np.diff(nobody) > 1)
                    firsts = nobody[np.r_[0, gaps + 1]]
                    lasts = nobody[np.r_[gaps, len(nobody) - 1]]
                    text += ":untouched=" + ",".join(
                        f"{a}-{b}" for a, b in zip(firsts, lasts))
            contracts.append(text)
        return contracts

    def launches(self, prefix, problem):
        """Runs every launch in order; yields what each was. Calls `problem` with
        hazards of kernels that nobody has changed."""
        for number, launch in enumerate(self.variant["launches"]):
            name = launch["kernel"]
            declared = next(k for k in self.manifest["kernels"] if k["name"] == name)
            grid = [evaluate(extent, self.shapes) for extent in launch["grid"]]
            if name.endswith("grouped_gemm"):
                grid[0] = min(grid[0], GEMM_BLOCKS)
            used, options = {}, []
            options += [f"--arg={self.argument(a, options, used)}" for a in launch["args"]]
            options += [f"--grid={','.join(map(str, grid))}", f"--block={declared['threads']}",
                        f"--shared={declared['shared']}"]
            buffers = {f"b{i}": (self.types[i], self.files[i], int(np.prod(self.shapes[i])))
                       for i in used}
            folder = os.path.join(self.folder, f"{prefix}-{number}")
            os.mkdir(folder)
            short = re.sub(r"^\w+?_(?:t\d+_(?:up|\d+)_)?(?=\d+_)", "", name)
            kernel = Kernel(f"{prefix} {short}", self.texts[name], options, buffers, folder)
            hazards, found = kernel.run(names=buffers)
            if hazards is None or hazards:
                problem(kernel.name, 0, hazards if hazards is not None else found)
                if hazards is None:
                    return
            files = dict(self.files)
            for i in used:
                array = found[f"b{i}"]
                old = None if self.files[i] is None else np.load(self.files[i])
                if old is None or not np.array_equal(old.view(np.uint8), array.view(np.uint8)):
                    kernel.expected[f"b{i}"] = array
                    self.keep(i, array)
            kernel.contracts = self.contracts(kernel, files)
            yield kernel

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the snippets in the emulator and compares with what the GPU answered.

  compare.py RUNNER [GROUP ...] [--no-checks] [--bits]

RUNNER is moe-run-snippets. Every snippet must have a recorded result of exactly
this PTX and input, run without a hazard and give the result under its rule
(`snippet.Rule`); one that faults on the GPU must be reported. What is known not to
agree is listed in known.txt, with its reason; a line there that nothing needs is an
error too. --bits counts the results that follow the rule and differ in bits.
"""

import argparse
import fnmatch
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np

import generate
import vectors
from matrices import values_of
from record import MAP_TYPES
from snippet import BYTES

STATUS = {1: "refused", 2: "hazard"}


def padded(values, fill):
    return tuple(values) + (fill,) * (5 - len(values))


def request(snippet):
    head = struct.pack("<11I", len(snippet.ptx.encode()), len(snippet.input),
                       snippet.output_bytes, *snippet.grid, *snippet.block, snippet.shared,
                       len(snippet.maps))
    maps = b"".join(
        struct.pack("<6I9Q10I", MAP_TYPES[m.type], len(m.extents), m.swizzle, m.fill_nan,
                    int(m.buffer == "out"), m.offset, *padded(m.extents, 1),
                    *padded(m.strides, 0)[:4], *padded(m.box, 1),
                    *padded(m.element_strides, 1)) for m in snippet.maps)
    return head + snippet.ptx.encode() + snippet.input + maps


def emulate(runner, snippets, options):
    """[(status, text, output)]; status 3 for a snippet that ends the runner."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        requests, replies = pathlib.Path(folder) / "requests", pathlib.Path(folder) / "replies"
        while len(out) < len(snippets):
            requests.write_bytes(b"".join(map(request, snippets[len(out):])))
            done = subprocess.run([runner, requests, replies, *options], capture_output=True,
                                  text=True)
            data, at = replies.read_bytes(), 0
            while at < len(data):
                status, size = struct.unpack_from("<II", data, at)
                text = data[at + 8: at + 8 + size].decode()
                end = at + 8 + size + snippets[len(out)].output_bytes
                out.append((status, text, data[at + 8 + size: end]))
                at = end
            if len(out) < len(snippets):
                out.append((3, f"the runner ended with {done.returncode} {done.stderr.strip()}",
                            b""))
    return out


def numbers(kind, data):
    """Bits and, for floats, values."""
    bits = np.frombuffer(data, dtype=f"<u{BYTES[kind]}").astype(np.uint64)
    with np.errstate(invalid="ignore"):
        return bits, values_of(kind, bits) if kind[0] != "b" or kind[1] == "f" else None


def agree(result, wanted, got):
    """Which of the values agree under the rule."""
    bits, value = numbers(result.type, wanted)
    bits2, value2 = numbers(result.type, got)
    same = bits == bits2
    if result.rule.kind == "exact":
        return same
    nan, nan2 = np.isnan(value), np.isnan(value2)
    if result.rule.kind == "nan":
        return same | (nan & nan2)
    finite = np.isfinite(value) & np.isfinite(value2)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(value - value2) <= (
            result.rule.relative * np.abs(value) + result.rule.absolute)
    return (nan & nan2) | np.where(finite, near, value == value2)


def difference(snippet, wanted, got):
    """What is wrong with the output, or empty."""
    at = 0
    for result in snippet.results:
        end = at + BYTES[result.type] * result.count
        good = agree(result, wanted[at:end], got[at:end])
        if not good.all():
            index = int(np.argmin(good))
            bits, value = numbers(result.type, wanted[at:end])
            bits2, value2 = numbers(result.type, got[at:end])
            shown = f"0x{int(bits[index]):x}, emulated 0x{int(bits2[index]):x}"
            if value is not None:
                shown += f" ({value[index]:g}, {value2[index]:g})"
            return (f"{int((~good).sum())} of {result.count} values differ, the first at {index}: "
                    f"recorded {shown}")
        at = end
    return ""


def known():
    """[(pattern, reason)] of known.txt: lines `GROUP/NAME pattern: reason`."""
    out = []
    for line in (generate.FOLDER / "known.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, reason = line.rsplit(" -- ", 1)
            out.append((pattern.strip(), reason.strip()))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("group", nargs="*")
    parser.add_argument("--no-checks", action="store_true")
    parser.add_argument("--bits", action="store_true")
    arguments = parser.parse_args()
    groups = generate.all_snippets()
    options = ["--no-checks"] if arguments.no_checks else []
    failed, used = 0, set()
    listed = known()
    for group in arguments.group or groups:
        failed += compare_group(group, groups[group], arguments, options, listed, used)
    for pattern, reason in listed:
        if pattern not in used and (not arguments.group
                                    or pattern.split("/")[0] in arguments.group):
            print(f"known.txt: nothing needs '{pattern}' ({reason})")
            failed += 1
    return 1 if failed else 0


def judge(snippet, record, status, text, output):
    """What is wrong with the emulator's answer, or empty."""
    digest, wanted, error = record
    if digest is None:
        return "no recorded result: run record.py"
    if digest != snippet.digest():
        return "PTX or input are not those of the recorded result: run record.py"
    if error:
        return "" if status == 2 else f"no hazard is reported, but the GPU says {error}"
    if status:
        return f"{STATUS.get(status, 'crash')}: {text.strip()}"
    return difference(snippet, wanted, output)


def compare_group(group, snippets, arguments, options, listed, used):
    """Prints what fails; returns how many."""
    recorded, device = vectors.load(generate.FOLDER / f"{group}.npz")
    wanted = {name: data for name, (_, data, _) in recorded.items()}
    failures, expected, inexact = [], 0, 0
    for snippet, (status, text, output) in zip(snippets,
                                               emulate(arguments.runner, snippets, options)):
        why = judge(snippet, recorded.pop(snippet.name, (None, b"", "")), status, text, output)
        inexact += not why and not snippet.faults and wanted[snippet.name] != output
        if not why:
            continue
        patterns = [p for p, _ in listed if fnmatch.fnmatchcase(f"{group}/{snippet.name}", p)]
        used.update(patterns[:1])
        if patterns:
            expected += 1
        else:
            failures.append(f"  {snippet.name}: {why}")
    failures += [f"  {name}: recorded, but no snippet" for name in recorded]
    bits = f", {inexact} not in every bit" if arguments.bits else ""
    print(f"{group}: {len(snippets) - expected - len(failures)} of {len(snippets)} agree with "
          f"{device}{bits}" + (f", {expected} known not to" if expected else ""))
    print("\n".join(failures) + "\n" if failures else "", end="", flush=True)
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())

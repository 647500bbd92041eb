# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of recorded results: one `.npz` a group."""

import numpy as np


def text(strings):
    return np.frombuffer("\n".join(strings).encode(), dtype=np.uint8)


def save(path, snippets, outputs, errors, device):
    """`outputs` are bytes, one a snippet; none where it has an error."""
    np.savez_compressed(
        path, names=text([s.name for s in snippets]), device=text([device]),
        errors=text(errors),
        digests=np.frombuffer(b"".join(s.digest() for s in snippets), dtype=np.uint8),
        sizes=np.array([len(o) for o in outputs], dtype=np.uint32),
        data=np.frombuffer(b"".join(outputs), dtype=np.uint8))


def load(path):
    """({name: (digest, bytes, error)}, device)"""
    with np.load(path) as file:
        names = file["names"].tobytes().decode().split("\n")
        device = file["device"].tobytes().decode()
        errors = file["errors"].tobytes().decode().split("\n")
        digests, data = file["digests"].tobytes(), file["data"].tobytes()
        ends = np.cumsum(file["sizes"]).tolist()
    out, begin = {}, 0
    for index, (name, error, end) in enumerate(zip(names, errors, ends)):
        out[name] = digests[8 * index: 8 * index + 8], data[begin:end], error
        begin = end
    return out, device

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cuts the slices of this folder out of whole captures; README.md says of which.

  cut.py decode  CAPTURE.npz OUT.npz    64 tokens, each of its own request and step
  cut.py prefill CAPTURE.npz OUT.npz    256 tokens in a row

A capture has topk_ids [L, T, k], topk_w [L, T, k], seq_start [S + 1], layers [L].
A slice has ids [3, n, k] i16 and weights [3, n, k] f16 of the first, the middle
and the last layer, and the numbers of those layers.
"""

import sys

import numpy as np

SEED = 7
DECODE_TOKENS = 64
PREFILL_TOKENS = 256


def decode_rows(starts, rng):
    """Rows of tokens at random steps; request after request, then round again."""
    lengths = np.diff(starts)
    rows = []
    while len(rows) < DECODE_TOKENS:
        for start, length in zip(starts, lengths):
            row = int(start + rng.integers(length))
            if row not in rows:
                rows.append(row)
    return np.array(rows[:DECODE_TOKENS])


def main(mode, capture, out):
    data = np.load(capture)
    starts = data["seq_start"]
    if mode == "decode":
        rows = decode_rows(starts, np.random.default_rng(SEED))
    else:
        rows = starts[3] + np.arange(PREFILL_TOKENS)
    last = len(data["layers"]) - 1
    picked = [0, last // 2, last]
    np.savez_compressed(
        out, ids=data["topk_ids"][picked][:, rows].astype(np.int16),
        weights=data["topk_w"][picked][:, rows].astype(np.float16),
        layers=data["layers"][picked])


if __name__ == "__main__":
    main(*sys.argv[1:])

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of a product of choices in which every pair of choices occurs."""

import itertools

import numpy as np

# Attempts to complete one pair, and candidates that one attempt chooses among.
TRIES = 200
CANDIDATES = 12


def pairs_of(point):
    """Every pair of (dimension, index of its value) in a point."""
    return set(itertools.combinations(sorted(point.items()), 2))


class Product:
    """Dimensions (name -> values, the plainest first) and the rule that says which
    points exist."""

    def __init__(self, dimensions, valid=lambda point: True):
        self.dimensions = dimensions
        self.valid = valid

    def values(self, point):
        return {name: self.dimensions[name][i] for name, i in point.items()}

    def points(self):
        """The whole product, as values."""
        names = list(self.dimensions)
        for indices in itertools.product(*(range(len(v)) for v in self.dimensions.values())):
            values = self.values(dict(zip(names, indices)))
            if self.valid(values):
                yield values

    def _draw(self, rng, fixed):
        """A random valid point that holds `fixed`, or None. Plain values come the
        more often, the longer the search: most rules forbid what is not plain."""
        for attempt in range(TRIES):
            plain = rng.random(len(self.dimensions)) < attempt / TRIES
            point = {name: 0 if skip else int(rng.integers(len(values)))
                     for skip, (name, values) in zip(plain, self.dimensions.items())}
            point.update(fixed)
            if self.valid(self.values(point)):
                return point
        return None

    def pairwise(self, seed=1):
        """Points, as values, in which each pair that some valid point has occurs."""
        rng = np.random.default_rng(seed)
        names = sorted(self.dimensions)
        missing = [((a, i), (b, j)) for a, b in itertools.combinations(names, 2)
                   for i in range(len(self.dimensions[a]))
                   for j in range(len(self.dimensions[b]))]
        rng.shuffle(missing)
        missing = [tuple((str(n), int(i)) for n, i in pair) for pair in missing]
        left, result = set(missing), []
        for pair in missing:
            if pair not in left:
                continue
            best, most = None, 0
            for _ in range(CANDIDATES):
                point = self._draw(rng, dict(pair))
                if point is None:
                    break
                gain = len(pairs_of(point) & left)
                if gain > most:
                    best, most = point, gain
            left.discard(pair)
            if best:
                left -= pairs_of(best)
                result.append(self.values(best))
        return result

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""set-bytecode-version.py IN OUT MAJOR MINOR: rewrites the version of the moe
dialect in a bytecode file that holds version 1.0.

A dialect's version is a section of its own: id 7, its length, and two numbers.
All are one-byte variable-length integers, stored as 2 * value + 1.
"""

import sys

source, target, major, minor = sys.argv[1:]


def encode(value):
    return bytes([2 * value + 1])


section = b"\x07" + encode(2)
old = section + encode(1) + encode(0)
data = open(source, "rb").read()
assert data.count(old) == 1, f"{data.count(old)} versions 1.0 found"
with open(target, "wb") as file:
    file.write(data.replace(old, section + encode(int(major)) + encode(int(minor))))

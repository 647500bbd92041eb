# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to break PTX text. Each edit finds its place by the instruction, not by
registers or labels, and fails where it finds nothing to change."""

import re

ALL = "all"


class NoPlace(Exception):
    """The text has no such instruction: the table is out of date."""


def edit(pattern, replacement, which=0):
    """Replaces match number `which` of a pattern, counted from the end where it
    is negative, or all of them."""

    def apply(text):
        matches = list(re.finditer(pattern, text, re.M))
        if not matches or (which != ALL and not -len(matches) <= which < len(matches)):
            raise NoPlace(f"{len(matches)} matches of {pattern}")
        for match in reversed(matches) if which == ALL else [matches[which]]:
            text = text[: match.start()] + match.expand(replacement) + text[match.end():]
        return text

    return apply


def line(instruction):
    """A pattern of a whole line; `instruction` is its beginning."""
    return rf"^\t(?:@!?%p\d+ +)?{instruction}[^\n]*;\n"


def drop(instruction, which=0):
    return edit(line(instruction), "", which)


def twice(instruction, which=0):
    return edit(f"({line(instruction)})", r"\1\1", which)


def after(instruction, lines, which=0):
    """`lines` may use groups of the pattern, from \\2 on."""
    return edit(f"({line(instruction)})", r"\1" + lines, which)


def never_waits(which=0):
    """A wait for an mbarrier that is always over."""
    return edit(r"mbarrier\.try_wait[^\n]*;", "setp.eq.u32 P1, 0, 0;", which)


def tries_once(which=0):
    """A wait that goes on whatever it found."""
    return edit(r"bra\.uni +LAB_WAIT;", "", which)


def unconditional(which=0, pattern=r"@%p\d+ +bra"):
    """A branch over something is not taken."""
    return edit(rf"^\t{pattern}[^\n]*;\n", "", which)


def both(*edits):
    def apply(text):
        for change in edits:
            text = change(text)
        return text

    return apply


class Mutant:
    """`change` is an edit of the text, or `launch` says what of the launch is other:
    {"--shared": bytes to add, "buffer N": elements to add, "--map": (from, to)}.
    `why` is for those that nobody can notice."""

    def __init__(self, kernel, name, change=None, launch=None, why=""):
        self.kernel, self.name, self.change = kernel, name, change
        self.launch, self.why = launch or {}, why

    def text(self, kernel):
        return self.change(kernel.text) if self.change else kernel.text

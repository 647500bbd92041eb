# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes functions of moe ops as text, for the tests that generate modules.

A dimension is a number or a name. Named dimensions print as `?`; the function
knows the index value of each (`Func.size`), so that destinations of dynamic
extent get their operands. Values are `Value(name, shape, element)`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """An SSA value with the shape and element type it was made with."""

    name: str
    shape: tuple
    element: str

    @property
    def type(self):
        dims = "".join(f"{d if isinstance(d, int) else '?'}x" for d in self.shape)
        return f"tensor<{dims}{self.element}>"


def attribute(key, value):
    """`key = value` in the spelling of the dialect; True is a unit attribute."""
    enums = {"score", "order", "group_rank", "grouping", "row_source", "b_layout",
             "weight", "a_order", "c_order", "activation"}
    # Attributes whose mnemonic is not their name.
    mnemonic = {"a_order": "row_order", "c_order": "row_order"}.get(key, key)
    if value is True:
        return key if key == "renormalize" else f"{key} = true"
    if value is False:
        return f"{key} = false"
    if key in enums:
        return f"{key} = #moe.{mnemonic}<{value}>"
    if isinstance(value, float):
        # Shortest text that names this value and that MLIR reads as a float.
        text = repr(value)
        text = text if "." in text or "n" in text else text.replace("e", ".0e")
        return f"{key} = {text} : f32"
    return f"{key} = {value}"


class Func:
    """One `func.func`; every method that adds an op returns its results."""

    def __init__(self, name, private=False):
        self.name = name
        self.private = private
        self.args = []
        self.lines = []
        self.sizes = {}
        self.names = {}

    def fresh(self, stem):
        """A value name that is not taken yet: stem, stem_1, stem_2, ..."""
        count = self.names.get(stem, 0)
        self.names[stem] = count + 1
        return f"%{stem}" if count == 0 else f"%{stem}_{count}"

    def arg(self, name, shape, element):
        value = Value(self.fresh(name), tuple(shape), element)
        self.args.append(value)
        return value

    def line(self, text):
        self.lines.append("  " + text)

    def comment(self, text):
        self.lines.append("")
        self.line(f"// {text}")

    def constant(self, number):
        key = f"c{number}"
        if key not in self.sizes:
            self.sizes[key] = self.fresh(key)
            self.line(f"{self.sizes[key]} = arith.constant {number} : index")
        return self.sizes[key]

    def dim(self, name, value, axis=0):
        """Names the extent of `value` along `axis`."""
        zero = self.constant(axis)
        self.sizes[name] = self.fresh(name.lower())
        self.line(f"{self.sizes[name]} = tensor.dim {value.name}, {zero} : "
                  f"{value.type}")

    def times(self, name, dim, factor):
        """Names the product of a named dimension and a number."""
        if factor == 1:
            self.sizes[name] = self.sizes[dim]
            return
        constant = self.constant(factor)
        self.sizes[name] = self.fresh(name.lower())
        self.line(f"{self.sizes[name]} = arith.muli {self.sizes[dim]}, {constant}"
                  " : index")

    def empty(self, shape, element, stem="init"):
        value = Value(self.fresh(stem), tuple(shape), element)
        sizes = ", ".join(self.sizes[d] for d in shape if not isinstance(d, int))
        self.line(f"{value.name} = tensor.empty({sizes}) : {value.type}")
        return value

    def cut(self, value, shape, stem="cut"):
        """The leading corner of a static value."""
        result = Value(self.fresh(stem), tuple(shape), value.element)
        zeros, ones = ", ".join("0" * len(shape)), ", ".join("1" * len(shape))
        sizes = ", ".join(map(str, shape))
        self.line(f"{result.name} = tensor.extract_slice {value.name}[{zeros}] "
                  f"[{sizes}] [{ones}]")
        self.line(f"    : {value.type} to {result.type}")
        return result

    def op(self, mnemonic, stems, clauses, outs, attributes=None):
        """Adds a destination-passing op.

        `clauses` maps a keyword to a list of values (None and empty lists are
        left out), `outs` lists (shape, element) of the destinations.
        """
        inits = [self.empty(shape, element) for shape, element in outs]
        results = [Value(self.fresh(stem), init.shape, init.element)
                   for stem, init in zip(stems, inits)]
        self.line(f"{', '.join(r.name for r in results)} = moe.{mnemonic}")
        for keyword, values in [*clauses.items(), ("outs", inits)]:
            values = [v for v in values or [] if v is not None]
            if values:
                names = ", ".join(v.name for v in values)
                types = ", ".join(v.type for v in values)
                self.line(f"    {keyword}({names} : {types})")
        parts = [attribute(key, value) for key, value in (attributes or {}).items()
                 if value is not None]
        if parts:
            self.line(f"    {{{', '.join(parts)}}}")
        self.line(f"    -> {', '.join(r.type for r in results)}")
        return results if len(results) > 1 else results[0]

    def gate(self, x, weight, bias=None):
        return self.op("gate", ["logits"], {"ins": [x, weight], "bias": [bias]},
                       [((x.shape[0], weight.shape[0]), "f32")])

    def route(self, logits, k, bias=None, table=None, expert_scale=None, **attributes):
        tokens = logits.shape[0]
        return self.op(
            "route", ["weights", "ids"],
            {"ins": [logits], "bias": [bias], "table": table,
             "expert_scale": [expert_scale]},
            [((tokens, k), "f32"), ((tokens, k), "i32")], attributes)

    def align(self, ids, rows, tiles, experts, block, expert_map=None):
        return self.op(
            "align", ["sorted", "tile", "padded", "counts"],
            {"ins": [ids], "expert_map": [expert_map]},
            [((rows,), "i32"), ((tiles,), "i32"), ((1,), "i32"), ((experts,), "i32")],
            {"experts": experts, "block": block})

    def gemm(self, a, b, c_shape, element, rows=None, expert_map=None, bias=None,
             weights=None, stem="c", **attributes):
        return self.op(
            "grouped_gemm", [stem],
            {"ins": [a, b], "rows": rows, "expert_map": [expert_map],
             "bias": [bias], "weights": [weights]},
            [(c_shape, element)], attributes)

    def activation(self, h, columns, element, activation):
        return self.op("activation", ["act"], {"ins": [h]},
                       [((h.shape[0], columns), element)], {"activation": activation})

    def combine(self, y, weights, ids, tokens, element, expert_map=None, identity=None,
                residual=None, **attributes):
        return self.op(
            "combine", ["out"],
            {"ins": [y, weights, ids], "expert_map": [expert_map],
             "identity": [identity], "residual": [residual]},
            [((tokens, y.shape[1]), element)], attributes)

    def text(self, *results):
        """The whole function, returning `results`."""
        head = f"func.func {'private ' if self.private else ''}@{self.name}("
        args = (",\n" + " " * len("func.func @" + self.name + "(")).join(
            f"{a.name}: {a.type}" for a in self.args)
        types = ", ".join(r.type for r in results)
        if len(results) != 1:
            types = f"({types})"
        returned = ""
        if results:
            returned = (f" {', '.join(r.name for r in results)} : "
                        f"{', '.join(r.type for r in results)}")
        return (f"{head}{args})\n    -> {types} {{\n" + "\n".join(self.lines)
                + f"\n  return{returned}\n}}\n")

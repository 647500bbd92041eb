"""Bundles whose manifest is wrong by one thing, which the emulator reports.

usage: wrong_bundles.py BUNDLE FOLDER

FOLDER/shrunk      workspace buffer 2, the chosen experts, has one of two columns
FOLDER/argument    combine writes to argument 0, which is no result
FOLDER/skipped     gate is not launched
"""

import json
import os
import shutil
import sys


def launch(variant, kernel):
    return next(l for l in variant["launches"] if l["kernel"].endswith(kernel))


def shrink(variant):
    variant["workspace"][2]["shape"][1] = 1


def write_argument(variant):
    launch(variant, "combine")["args"][3] = {"buffer": 0}


def skip_gate(variant):
    variant["launches"].remove(launch(variant, "gate"))


def main(bundle, folder):
    for name, change in (
        ("shrunk", shrink),
        ("argument", write_argument),
        ("skipped", skip_gate),
    ):
        copy = os.path.join(folder, name)
        shutil.copytree(bundle, copy)
        path = os.path.join(copy, "manifest.json")
        with open(path) as file:
            manifest = json.load(file)
        for variant in manifest["variants"]:
            change(variant)
        with open(path, "w") as file:
            json.dump(manifest, file)


main(*sys.argv[1:])

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The suite of unit tests: every GoogleTest program of the build's test/Unit.

import os

import lit.formats

if not hasattr(config, "moe_obj_root"):
    lit_config.fatal("start the tests with build/bin/moe-lit, or build check-moe")

config.name = "MoE-Unit"
config.suffixes = []
config.test_source_root = os.path.join(config.moe_obj_root, "test", "Unit")
config.test_exec_root = config.test_source_root
config.test_format = lit.formats.GoogleTest(".", "Tests")

if lit_config.params.get("tier", "default") == "all":
    config.environment["MOE_TEST_TIER"] = "all"

# Part of the MoE compiler, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""closed-pipe.py COMMAND...: closes the pipe that COMMAND prints to after its
first line, and fails unless it ends on its own within a minute."""

import os
import subprocess
import sys

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE,
                      env={**os.environ, "PYTHONUNBUFFERED": "1"},
                      stderr=subprocess.DEVNULL) as process:
    process.stdout.readline()
    process.stdout.close()
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("still running a minute after its output was closed")

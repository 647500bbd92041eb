# Writes what a clean source tree cannot hold: DIR/docs/bad.txt.
import pathlib
import sys

folder = pathlib.Path(sys.argv[1], "docs")
lines = ["blank ", "\ttab", "crlf\r", "<" * 7 + " ours", "/home" + "/someone/x"]
(folder / "bad.txt").write_bytes("\n".join(lines).encode())

"""Side-by-side measurements against what a user would pick instead.

`python -m benchmarks` from the root of the repository; `--help` names the parts.
"""

"""Read the snippets of `export/README.md`, and run them as a reader would.

    python tests/shipping_page.py FOLDER

follows the page up to its artifacts, once for all the runtimes that use them, and
leaves what Keras printed in `FOLDER/printed.txt`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "export" / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(heading):
    """The code of one section: a list of (language, code)."""
    [section] = [
        text
        for text in PAGE.read_text().split("\n## ")
        if text.splitlines()[0] == heading
    ]
    found = BLOCK.findall(section)
    assert found, heading
    return found


def headings():
    return re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE)


def run_snippet(language, code, folder, python=sys.executable):
    """Run one snippet in `folder` and return what it printed."""
    bin_folder = Path(python).parent
    if language == "js":
        script = folder / "snippet.mjs"
        script.write_text(code)
        command = ["node", script]
    else:
        command = {"python": [python, "-c", code], "sh": ["bash", "-euc", code]}[
            language
        ]
    result = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{code}\n{result.stderr[-4000:]}"
    return result.stdout


def ship(folder):
    """Follow the page up to its artifacts; return the numbers that Keras printed."""
    for name in ("export", "examples"):
        (folder / name).symlink_to(ROOT / name)
    [(language, model)] = snippets("A model")
    printed = run_snippet(language, model, folder)
    [(language, export)] = snippets("Export")
    run_snippet(language, export, folder)
    return printed


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "printed.txt").write_text(ship(folder))


if __name__ == "__main__":
    main()

"""Serve the built page on this machine only, and print its address.

python examples/browser/serve.py
python examples/browser/serve.py --port 8080
"""

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DIST = Path(__file__).parent / "dist"


class PageHandler(SimpleHTTPRequestHandler):
    """Files with the types that browsers insist on, whatever this system calls them."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".onnx": "application/octet-stream",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        """A page that was built anew shows at the next reload."""
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Only errors are worth a line."""


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8000, help="0 for any free port")
    parser.add_argument("--folder", type=Path, default=DIST)
    options = parser.parse_args(arguments)
    if not (options.folder / "index.html").exists():
        sys.exit(
            f"There is no page in {options.folder}: run `make browser-page` first."
        )
    handler = partial(PageHandler, directory=str(options.folder))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except (OSError, OverflowError) as error:
        sys.exit(f"`--port` must be free. Received: port={options.port} ({error})")
    with server:
        print(f"http://127.0.0.1:{server.server_port}/ (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()

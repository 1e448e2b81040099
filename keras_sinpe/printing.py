"""How reports and progress are printed, the same everywhere."""

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")


def as_text(*parts: Any) -> str:
    """Strings and tables of rich as plain lines; a long line is left to the reader."""
    from rich.console import Console

    text = io.StringIO()
    console = Console(file=text, width=100, color_system=None)
    for part in parts:
        console.print(part, markup=False, highlight=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def with_progress(
    what: str, progress: bool
) -> Callable[[Sequence[Item]], Iterable[Item]]:
    """Go through a sequence with a progress bar on standard error, or without."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)  # standard output is for the report
    return lambda items: track(items, what, disable=not progress, console=console)

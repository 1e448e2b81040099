"""A named tensor, and what its free axes are called."""

from __future__ import annotations

from dataclasses import dataclass

BATCH = "batch"


@dataclass(frozen=True)
class TensorSpec:
    """One named tensor: `shape` holds `None` where the size is free."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str

    @property
    def axes(self) -> tuple[int | str, ...]:
        """The shape with a symbol for every free size.

        >>> TensorSpec("ids", (None, None), "int32").axes
        ('batch', 'ids_length')
        >>> TensorSpec("image", (None, None, None, 3), "float32").axes
        ('batch', 'image_length', 'image_length_2', 3)
        """
        symbols: list[int | str] = []
        for axis, size in enumerate(self.shape):
            if size is not None:
                symbols.append(size)
            elif axis == 0:
                symbols.append(BATCH)
            else:
                first = all(isinstance(symbol, int) for symbol in symbols[1:])
                suffix = "" if first else f"_{axis}"
                symbols.append(f"{self.name}_length{suffix}")
        return tuple(symbols)

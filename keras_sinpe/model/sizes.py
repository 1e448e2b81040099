"""A named tensor, and what its free axes are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

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


@dataclass(frozen=True)
class Case:
    """The sizes of one run: `batch` and one length per other free axis."""

    batch: int
    axes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, batch: int, lengths: Mapping[str, int]) -> Self:
        """The case with these lengths by axis."""
        return cls(batch, tuple(lengths.items()))

    @property
    def lengths(self) -> dict[str, int]:
        """The length of every free axis but the batch."""
        return dict(self.axes)

    @property
    def sizes(self) -> dict[str, int]:
        """Every free axis with its size."""
        return {"batch": self.batch, **self.lengths}

    def __str__(self) -> str:
        lengths = ", ".join(f"{axis} {size}" for axis, size in self.axes)
        return f"batch {self.batch}" + (f", {lengths}" if lengths else "")

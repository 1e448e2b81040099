"""What the exporters raise beside Python's own errors."""


class ExportError(RuntimeError):
    """A model cannot be exported rightly, so nothing was written."""

"""Tables as data frames, where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from meshpace.errors import MendableError

if TYPE_CHECKING:
    import pyarrow as pa


class MissingPandasError(MendableError):
    """Data frames need a package that is not installed; the message names the extra that brings it."""


def data_frame(table: pa.Table) -> Any:
    """An Arrow table as pandas has it.

    Raises:
        MissingPandasError: pandas is not installed.
    """
    try:
        import pandas as pd  # type: ignore[import-not-found, import-untyped, unused-ignore] # noqa: F401
    except ImportError as error:
        raise MissingPandasError(
            "a data frame needs pandas, which is not installed; pip install 'meshpace[notebook]' brings it"
        ) from error
    return table.to_pandas()

"""Time series as Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from meshpace.engine import Columns


def write_parquet(path: Path, columns: Columns, result: str) -> None:
    """Writes the columns of a trace, and in the file's metadata the result of the run with its seed and version.

    Numbers come as little-endian 64-bit floats, NaN where there is no value; names come as a list of strings.
    """
    arrays = {}
    for name, values in columns.items():
        if isinstance(values, bytes):
            numbers = np.frombuffer(values, dtype="<f8")
            arrays[name] = pa.array(numbers, mask=np.isnan(numbers))
        else:
            # Not `dictionary_encode`, which loads Arrow's functions: as long as two empty Pythons take to start.
            arrays[name] = pa.array(values, type=pa.dictionary(pa.int32(), pa.string()))
    table = pa.table(arrays)
    run = {key: value for key, value in json.loads(result).items() if not isinstance(value, (list, dict))}
    pq.write_table(table.replace_schema_metadata({"meshpace": json.dumps(run)}), path)

"""Tables that are no artifacts: Parquet without a header or a content id, read as carefully all the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from commcanary.artifacts.files import read_bytes
from commcanary.artifacts.parquet_columns import check_decoded_size
from commcanary.errors import InputRefusal, Refusal, StorageRefusal


def read_plain_table(path: Path, schema: pa.Schema, remedy: str) -> pa.Table:
    """The columns of ``schema`` of the Parquet file at ``path``, others left out.

    Raises a ``Refusal`` naming the file: ``StorageRefusal`` for one that cannot be read, ``BudgetRefusal`` for one
    larger than an input may be, packed or unpacked, ``InputRefusal`` for a missing or differently typed column.
    """
    try:
        data = pa.py_buffer(read_bytes(Path(path)))
        check_decoded_size(data)
        try:
            table = pq.ParquetFile(pa.BufferReader(data)).read()
        except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
            detail = (str(error) or type(error).__name__).splitlines()[0]
            raise StorageRefusal("", f"cannot be read ({detail})", remedy) from error
        for field in schema:
            found = table.schema.field(field.name).type if table.column_names.count(field.name) == 1 else "missing"
            if found != field.type:
                raise InputRefusal(f"column {field.name}", f"is {found} where {field.type} is needed", remedy)
        return table.select(schema.names)
    except Refusal as refusal:
        raise refusal.in_file(str(path)) from refusal.__cause__

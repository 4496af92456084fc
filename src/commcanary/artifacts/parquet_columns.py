"""The columns of a Parquet file, measured before they are decoded: a small file can ask for any amount of memory.

Three sizes are held against what an input may have: the pages decompressed, the values that they decode to, and
the text that a dictionary of strings stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from commcanary.artifacts.input_limit import check_input_bytes
from commcanary.artifacts.parquet_pages import decoded_size
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_VALUE_BYTES = 8
_REMEDY = "export or copy it again"


def check_decoded_size(data: pa.Buffer) -> None:
    """Raise ``BudgetRefusal`` where the file becomes too large in memory, ``InputRefusal`` where its footer lies."""
    size = decoded_size(memoryview(data).cast("B"))  # Arrow's buffers are of signed bytes
    check_input_bytes(size.page_bytes, "decompressed, the file has")
    check_input_bytes(size.values * _VALUE_BYTES, "decoded, the columns have")


def read_columns(file: pq.ParquetFile, schema: pa.Schema) -> pa.Table:
    """The columns of ``schema``, strings that were read as dictionaries turned back into strings.

    Raises ``InputRefusal`` where the rows are fewer than the footer says or a string is not UTF-8.
    """
    table = file.read()
    if table.num_rows != file.metadata.num_rows:
        raise InputRefusal("rows", f"are {table.num_rows}, the footer says {file.metadata.num_rows}", _REMEDY)
    text_bytes = 0
    columns = []
    for field in schema:
        column = table.column(field.name)
        if pa.types.is_dictionary(column.type):
            text_bytes += sum(_expanded_bytes(chunk) for chunk in column.chunks)
            check_input_bytes(text_bytes, "decoded, the strings have")
            column = column.cast(field.type)
        columns.append(column)
    found = pa.table(columns, schema=schema)
    found.validate(full=True)
    return found


def _expanded_bytes(chunk: pa.DictionaryArray) -> int:
    lengths = pc.binary_length(chunk.dictionary)
    return int(pc.sum(lengths.cast(pa.int64()).take(chunk.indices)).as_py() or 0)

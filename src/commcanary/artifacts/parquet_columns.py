"""The columns of a Parquet file, measured before they are decoded: a small file can ask for any amount of memory.

Three sizes are held against what an input may have: the pages decompressed, the values that they decode to, and
the text that a dictionary of strings stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from commcanary.artifacts.input_limit import check_input_bytes
from commcanary.artifacts.parquet_pages import decompressed_bytes
from commcanary.errors import InputRefusal

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_VALUE_BYTES = 8
_REMEDY = "export or copy it again"


def check_decoded_size(file: pq.ParquetFile, data: pa.Buffer) -> None:
    """Raise ``BudgetRefusal`` where the file becomes too large in memory, ``InputRefusal`` where its footer lies."""
    metadata = file.metadata
    text = memoryview(data)
    decompressed = values = rows = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        rows += group.num_rows
        for index in range(group.num_columns):
            column = group.column(index)
            values += column.num_values
            if column.num_values < 0 or ("." not in column.path_in_schema and column.num_values != group.num_rows):
                place = f"row group {number} column {column.path_in_schema}"
                raise InputRefusal(place, f"has {column.num_values} values for {group.num_rows} rows", _REMEDY)
            if column.num_values == 0:
                continue  # nothing will be read
            starts = [column.data_page_offset]
            if column.has_dictionary_page and column.dictionary_page_offset:
                starts.append(column.dictionary_page_offset)
            decompressed += decompressed_bytes(text, min(starts), column.total_compressed_size)
    if rows != metadata.num_rows or rows < 0:
        raise InputRefusal("footer", f"states {metadata.num_rows} rows, its row groups {rows}", _REMEDY)
    check_input_bytes(decompressed, "decompressed, the file has")
    check_input_bytes(values * _VALUE_BYTES, "decoded, the columns have")


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

"""Element types: the profiler's spellings -> one name and a size in bytes."""

from __future__ import annotations

_SIZES = {
    "float32": 4,
    "float64": 8,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "bool": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "complex64": 8,
    "complex128": 16,
}

_SPELLINGS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "byte": "uint8",
    "unsigned char": "uint8",
    "char": "int8",
    "signed char": "int8",
    "short": "int16",
    "short int": "int16",
    "int": "int32",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "unsigned short": "uint16",
    "unsigned int": "uint32",
    "unsigned long": "uint64",
    "complexfloat": "complex64",
    "complexdouble": "complex128",
}


def dtype_of(spelling: str) -> str | None:
    """Our name of an element type as the profiler spells it (``BFloat16``, ``c10::Half``, ``long int``).

    None for spellings that we do not know: a guess would make wrong bytes.
    """
    plain = spelling.strip().removeprefix("c10::").lower()
    name = _SPELLINGS.get(plain, plain)
    return name if name in _SIZES else None


def element_bytes(dtype: str) -> int:
    """Bytes of one element of one of our dtype names."""
    return _SIZES[dtype]

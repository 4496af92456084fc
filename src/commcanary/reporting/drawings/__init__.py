"""The campaign's figures, one idea a file: each takes rows of the summary tables and returns a ``Drawing``."""

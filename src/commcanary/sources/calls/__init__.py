"""Calls of the ranks of one job, however a source listed them -> logical collectives -> a trace."""

"""Figures, tables and HTML: the only users of pandas and pyplot."""

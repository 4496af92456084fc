"""One file a command: arguments, stage function, one summary line, an exit code."""

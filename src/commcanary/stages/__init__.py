"""One file a stage, one function each: paths in, paths out."""

"""MLIR from Python: the context, types, locations, and what it says is wrong."""

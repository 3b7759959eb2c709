"""Transforms of functions over arrays: jit and the derivatives. They compose in any order."""

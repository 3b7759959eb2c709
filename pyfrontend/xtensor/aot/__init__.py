"""Ahead of time: bundles that any program can call (docs/aot.md)."""

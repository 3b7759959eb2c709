"""Calls: what arguments are arrays, which program serves a call, and how it is found again."""

"""Coordinates, names and attributes of DataArrays: where they come from, and where they go."""

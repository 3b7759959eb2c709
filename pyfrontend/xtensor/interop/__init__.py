"""NumPy, DLPack and xarray, both ways."""

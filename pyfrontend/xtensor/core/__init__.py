"""What an array is, seen from Python: the class, its dims and dtypes, pytrees, errors, options."""

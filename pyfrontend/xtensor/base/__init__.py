"""What needs neither arrays nor a compiler: errors, dims, dtypes, pytrees, and refusals."""

"""Words and rules that need neither arrays nor a compiler: errors, dims, dtypes, pytrees, what may be refused."""

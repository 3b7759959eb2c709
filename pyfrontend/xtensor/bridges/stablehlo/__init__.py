"""StableHLO, the dialect of JAX's programs: the text of a function of named arrays, and a function of such a text."""

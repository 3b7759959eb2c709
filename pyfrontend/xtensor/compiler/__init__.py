"""From a traced program to code that runs: stages, options, the cache on disk, dumps."""

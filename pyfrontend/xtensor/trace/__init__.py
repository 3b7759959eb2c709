"""From Python calls to IR: tracers, one builder per dialect op, and the dispatch of public functions."""

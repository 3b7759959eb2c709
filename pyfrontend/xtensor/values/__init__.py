"""Arrays with values, where they are, and the options in force."""

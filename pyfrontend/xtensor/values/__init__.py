"""Arrays with values, their devices, and the options in force."""

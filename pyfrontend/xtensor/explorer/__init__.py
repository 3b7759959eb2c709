"""The explorer: one HTML file that shows a program after each phase, beside the user's Python."""

"""What is added to classes and modules once all functions are defined: methods, operators, and hints about names."""

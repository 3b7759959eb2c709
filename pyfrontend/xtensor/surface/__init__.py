"""What is put on classes and modules when all functions are there: methods, operators, and hints about names."""

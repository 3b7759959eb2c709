// Every op of the dialect has a lowering, and a test of it in this folder.
// RUN: %python %S/coverage.py %S/../../../dialects/XTensor %S

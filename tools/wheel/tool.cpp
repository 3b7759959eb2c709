// A tool of a wheel: its main function is in the library that holds LLVM
// (cmake/XTensorWheel.cmake).
int XTENSOR_TOOL_MAIN(int argc, char **argv);

int main(int argc, char **argv) { return XTENSOR_TOOL_MAIN(argc, argv); }

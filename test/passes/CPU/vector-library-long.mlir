// A vector that would take more calls than anybody wants is told, not unrolled: the parts of this
// one would be moved half a million times.
// REQUIRES: x86_64
// RUN: xtensor-opt %s --split-input-file --verify-diagnostics --xtensor-call-vector-library=vector-bits=256

func.func @longest(%x: vector<512xf32>) -> vector<512xf32> {
  %y = math.sin %x : vector<512xf32>
  return %y : vector<512xf32>
}

// -----

func.func @long(%x: vector<8000000xf32>) -> vector<8000000xf32> {
  // expected-error @+1 {{'math.sin' op of 8000000 lanes takes more than 64 calls of a function of 8 lanes; cut it into shorter vectors}}
  %y = math.sin %x : vector<8000000xf32>
  return %y : vector<8000000xf32>
}

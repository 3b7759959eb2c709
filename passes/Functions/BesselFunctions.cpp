// Modified Bessel functions of order 0 and 1. Up to 8 they are polynomials in x^2, whose
// coefficients are positive, above e^x / sqrt(x) times a polynomial in 16 / x - 1. Coefficients:
// interpolation at Chebyshev's nodes, error below 2^-29 (f32) and 2^-56 (f64).
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kI0Near32[] = {1.0,           0.25,          0.015624999,   0.000434028,
                                       6.7816463e-06, 6.782015e-08,  4.7076537e-10, 2.4095808e-12,
                                       9.221438e-15,  3.1582715e-17, 4.6607543e-20, 2.8886774e-22};
static constexpr double kI0Near64[] = {1.0,
                                       0.25,
                                       0.015625000000000007,
                                       0.00043402777777777445,
                                       6.781684027778812e-06,
                                       6.781684027758202e-08,
                                       4.709502797312111e-10,
                                       2.4028075474081917e-12,
                                       9.385967122158306e-15,
                                       2.896902788810415e-17,
                                       7.242279005317181e-20,
                                       1.4962822964042478e-22,
                                       2.5987841051325663e-25,
                                       3.829411247002327e-28,
                                       5.0327117729737235e-31,
                                       4.601357767863732e-34,
                                       8.487698345602824e-37};
static constexpr double kI0Far32[] = {0.4021765,     0.0033605557,  0.00013621684, 1.1111525e-05,
                                      1.4767921e-06, 3.6317104e-07, 1.08298984e-07};
static constexpr double kI0Far64[] = {
    0.4021765094450081,      0.003360551983667854,   0.00013621607439232746,
    1.1143033791556743e-05,  1.4838475473607391e-06, 2.973598432479169e-07,
    8.87225351128584e-08,    3.932602459703109e-08,  2.1545177650836005e-08,
    7.553516470355896e-09,   -6.729724111923548e-09, -1.3404241991980871e-08,
    -5.4685974495866e-09,    7.540601378890834e-09,  7.58022133915272e-09,
    -3.4857887470034955e-09, -6.188265090497361e-09, 1.497880830187091e-09,
    3.881151253996067e-09,   -5.562201990080394e-10, -1.7789375042917173e-09,
    1.4672236659214398e-10,  5.181936971288284e-10,  -1.9216763724933513e-11,
    -7.06893851181878e-11};
static constexpr double kI1Near32[] = {0.5,           0.0625,        0.0026041677,  5.425325e-05,
                                       6.781957e-07,  5.6494276e-09, 3.3728024e-11, 1.4763215e-13,
                                       5.6781166e-16, 9.33866e-19,   6.3589025e-21};
static constexpr double kI1Near64[] = {0.5,
                                       0.06250000000000001,
                                       0.0026041666666666574,
                                       5.42534722222271e-05,
                                       6.781684027764357e-07,
                                       5.651403356704746e-09,
                                       3.3639305668982475e-11,
                                       1.5017547367976848e-13,
                                       5.214425120919993e-16,
                                       1.448455537254395e-18,
                                       3.2918259018287706e-21,
                                       6.2370206832638684e-24,
                                       9.956969230500738e-27,
                                       1.408926251589232e-29,
                                       1.3808181584914298e-32,
                                       2.716505589516919e-35};
static constexpr double kI1Far32[] = {0.38939846,     -0.009749581,   -0.00021923667,
                                      -1.5003323e-05, -1.8267145e-06, -4.2155543e-07,
                                      -1.2212499e-07};
static constexpr double kI1Far64[] = {
    0.38939845902587233,     -0.009749577193235728,   -0.00021923576383430274,
    -1.5038547201176271e-05, -1.8349101134666435e-06, -3.483855609009937e-07,
    -1.0001323461066435e-07, -4.312935369971356e-08,  -2.337059627111857e-08,
    -8.426622829598154e-09,  6.715795128085017e-09,   1.4029693589852716e-08,
    6.040877342160988e-09,   -7.630751970065577e-09,  -8.044231276166508e-09,
    3.406636130196794e-09,   6.4870195719816896e-09,  -1.4171698018664596e-09,
    -4.047785403711858e-09,  5.146498826087142e-10,   1.8513716745511988e-09,
    -1.342266320082222e-10,  -5.388285995923524e-10,  1.7502497778701306e-11,
    7.347992441734663e-11};

/// Of |x|, times e^-|x| if it is scaled.
static Real besselOf(Scalars &s, Real x, const Polynomial &near, const Polynomial &far, bool odd,
                     bool scaled) {
  Real magnitude = abs(x);
  Real y = s.evaluate(near, magnitude * magnitude);
  if (odd)
    y = y * magnitude;
  if (scaled)
    y = y * s.call("exp", {-magnitude});
  auto beyond = [&] {
    Real z = s.evaluate(far, 16.0 / magnitude - 1.0) / sqrt(magnitude);
    if (scaled)
      return z;
    // The exponential itself overflows before the result does.
    Real half = s.call("exp", {magnitude * 0.5});
    return select(magnitude == s.infinity(), magnitude, z * half * half);
  };
  y = s.choose(magnitude > 8.0, beyond, y);
  return odd ? withSign(y, signOf(x)) : y;
}

Real xtensor::emitI0(Scalars &s, Real x) {
  return besselOf(s, x, {kI0Near32, kI0Near64}, {kI0Far32, kI0Far64}, false, false);
}
Real xtensor::emitI0e(Scalars &s, Real x) {
  return besselOf(s, x, {kI0Near32, kI0Near64}, {kI0Far32, kI0Far64}, false, true);
}
Real xtensor::emitI1(Scalars &s, Real x) {
  return besselOf(s, x, {kI1Near32, kI1Near64}, {kI1Far32, kI1Far64}, true, false);
}
Real xtensor::emitI1e(Scalars &s, Real x) {
  return besselOf(s, x, {kI1Near32, kI1Near64}, {kI1Far32, kI1Far64}, true, true);
}

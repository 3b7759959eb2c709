#include "Functions/IncompleteParts.h"

using namespace mlir;
using namespace xtensor;

// (1 / gamma(1 + z) - 1) / z of z - 1/2 in -1/2 .. 1/2.
static constexpr double kInverseGamma32[] = {0.25675833,  -0.5958657,    0.13842258,
                                             0.073359154, -0.044784207,  0.005254287,
                                             0.002711653, -0.0011597982, 0.00012755832};
static constexpr double kInverseGamma64[] = {
    0.2567583341910252,     -0.5958657212726165,    0.13842257149414403,     0.07335890909958692,
    -0.04478409770374731,   0.005257856670174178,   0.0027100823126775388,   -0.0011787017355725665,
    0.00013594297383985322, 3.282925035594456e-05,  -1.4948207566219585e-05, 2.103014372916029e-06,
    1.0699357625003241e-07, -9.856939244146255e-08, 1.7200070946431934e-08};
// (atanh(y) / y - 1) / y^2 of y^2 up to 0.1838.
static constexpr double kLog32[] = {0.33333334, 0.20000082,  0.1428053,
                                    0.11228559, 0.079145506, 0.12841527};
static constexpr double kLog64[] = {
    0.3333333333333333,  0.200000000000031,   0.14285714284913378,   0.11111111191995762,
    0.09090904883761594, 0.07692436315624757, 0.06664186263204164,   0.05913618740797572,
    0.05003080211985043, 0.06164783552244563, -0.002795469584858704, 0.11984012214135234};
// gamma(a) over Stirling's formula, of 1 / a up to 1/16 (1/6 in f32).
static constexpr double kStirling32[] = {1.0, 0.08333336, 0.0034721158, -0.0026984606};
static constexpr double kStirling64[] = {1.0,
                                         0.08333333333333555,
                                         0.0034722222214865006,
                                         -0.0026813270687130485,
                                         -0.00022947761007127308,
                                         0.0007842131739447346,
                                         6.692073395844886e-05,
                                         -0.000574429638122049};
static const Polynomial kInverseGamma = {kInverseGamma32, kInverseGamma64};

Jet xtensor::inverseGammaSlope(const Jet &z) { return evaluate(kInverseGamma, z - 0.5); }

/// The product over j of z - j, of those from 1 on, is gamma(1 + z) over that of what is left of z.
Jet xtensor::inverseGammaOfNext(const Jet &z) {
  Scalars &s = z.scalars();
  Jet one(z.degree, s.real(1)), product = one, rest = z;
  for (int j = 0, steps = s.pick(5, 15); j < steps; ++j) {
    Bit above = rest.value() >= 1.0;
    product = product * select(above, rest, one);
    rest = select(above, rest - 1.0, rest);
  }
  return (rest * inverseGammaSlope(rest) + 1.0) * inverse(product);
}

Jet xtensor::overStirling(const Jet &z) { return evaluate({kStirling32, kStirling64}, inverse(z)); }

Real xtensor::aboveLog(Scalars &s, Real mu) {
  // mu y - 2 y^3 p(y^2) with y = mu / (2 + mu)
  Real y = mu / (mu + 2.0), square = y * y;
  return y * (mu - square * 2.0 * s.evaluate({kLog32, kLog64}, square));
}

Bit xtensor::stillMoves(const Jet &change, const Jet &sum) {
  const double small = sum.scalars().pick(0x1p-25, 0x1p-54);
  Bit value = abs(change.value()) > abs(sum.value()) * small;
  return sum.degree.total() ? value | (abs(change.last()) > abs(sum.last()) * small) : value;
}

void xtensor::replaceState(MutableArrayRef<Real> state, std::initializer_list<Jet> jets) {
  size_t at = 0;
  for (const Jet &jet : jets)
    for (Real x : jet.all())
      state[at++] = x;
}

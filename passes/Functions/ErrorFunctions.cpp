// erf, erfc and their inverses. erf x = x + x p(x^2) up to 1. erfc x = e^(-x^2) g(t) / (1 + 2x)
// with t = (x - 4) / (x + 4), in which g is smooth over the whole range (Shepherd and Laframboise,
// 1981); x^2 goes into the exponential exactly. Minimax coefficients, error below 2^-34 and 2^-27
// (f32), 2^-68 and 2^-59 (f64).
#include "Functions/Functions.h"
#include "Functions/Pieces.h"

#include <cmath>

using namespace mlir;
using namespace xtensor;

static constexpr double kErf32[] = {0.12837917,   -0.37612638,    0.11283782,     -0.026865397,
                                    0.0052209343, -0.00084826536, 0.000112555834, -9.637359e-06};
static constexpr double kErf64[] = {
    0.1283791670955126,     -0.37612638903183754,   0.11283791670955119,    -0.02686617064512972,
    0.005223977625421892,   -0.0008548327021839373, 0.00012055332898727661, -1.4925647445906922e-05,
    1.6462043007814276e-06, -1.636460871508801e-07, 1.4792090887512993e-08, -1.2162702165417782e-09,
    8.70256640601463e-11,   -4.220949840730513e-12};
static constexpr double kTail32[] = {1.2329952,    -0.13962103, 0.015380073, 0.068093136,
                                     -0.10105038,  0.09377913,  -0.0662145,  0.036983214,
                                     -0.016695622, 0.005189276};
static constexpr double kTail64[] = {
    1.2329951186255526,     -0.1396211168405625,     0.015379652102619523,
    0.06809705425468895,    -0.10103906603628782,    0.093732834998509,
    -0.06633036581269106,   0.03716751553433956,     -0.016197734050960592,
    0.0050319700123663946,  -0.0007577733456373573,  -0.00019925692431081685,
    0.00015062197203047418, -2.4398225693373342e-05, -1.122302232092127e-05,
    5.7069218601073365e-06, 2.9595965529858804e-07,  -8.201643936567276e-07,
    7.173415327556584e-08,  1.0381444079588552e-07,  -1.5712180838756654e-08,
    -9.85374533586692e-09,  1.116755127436093e-09};

static Real nearZero(Scalars &s, Real x) { return x + x * s.evaluate({kErf32, kErf64}, x * x); }

namespace {

/// g(t) / (1 + 2x), and what the quotient lacks.
struct Ratio {
  Real quotient, rest;
};

} // namespace

/// Of x from 3/4 on. Where each rounding would show, numbers are in two parts.
static Ratio ratioOf(Scalars &s, Real x) {
  Real t = (x - 4.0) / (x + 4.0);
  ArrayRef<double> c = s.pick(ArrayRef(kTail32), ArrayRef(kTail64));
  Sum g = addSmaller(s.real(c.front()), t * s.evaluate({c.drop_front(), c.drop_front()}, t));
  Sum divisor = addExactly(x * 2.0, s.real(1));
  Real inverse = 1.0 / divisor.hi, quotient = g.hi * inverse;
  Sum product = multiplyExactly(quotient, divisor.hi);
  Real rest = (g.hi - product.hi) - product.lo + (g.lo - quotient * divisor.lo);
  return {quotient, rest * inverse};
}

/// erfc of x from 3/4 on.
static Real complement(Scalars &s, Real x) {
  auto [quotient, rest] = ratioOf(s, x);
  Sum square = multiplyExactly(x, x);
  auto [factor, k] = emitScaledExp(s, -square.hi, -square.lo);
  Real y = factor.hi * quotient + (factor.lo * quotient + factor.hi * rest);
  return select(x > s.pick(10.5, 28.0), 0.0, s.scale(y, k));
}

/// The Taylor series of erf(a) / a. Those of the derivative of erf are by p' = -2a p.
static void seriesOfErf(double a, MutableArrayRef<double> c) {
  double last = 0, p = std::exp(-a * a) * 1.1283791670955126;
  if (a)
    c[0] = std::erf(a) / a;
  for (unsigned n = 0; n < c.size(); ++n) {
    double next = p / (n + 1); // the coefficient n + 1 of erf
    if (!a)
      c[n] = next;
    else if (n + 1 < c.size())
      c[n + 1] = (next - c[n]) / a;
    last = std::exchange(p, -2 * (a * p + last) / (n + 1));
  }
}

/// erf of f32 on CPUs: error of the quotient below 2^-27, or 2^-16 of it. 1 beyond the pieces.
static Real erfByPieces(Scalars &s, Real x) {
  static const Pieces fine = makePieces(4, seriesOfErf), rough = makePieces(2, seriesOfErf);
  Real magnitude = abs(x), near = x * evaluate(s, s.isRough ? rough : fine, magnitude);
  return s.choose(magnitude >= kEndOfPieces, [&] { return withSignOf(s.real(1), x); }, near);
}

Real xtensor::emitErf(Scalars &s, Real x) {
  if (s.permutes)
    return erfByPieces(s, x);
  Real magnitude = abs(x);
  Real far = select(magnitude > s.pick(4.5, 6.5), 1.0, 1.0 - complement(s, magnitude));
  return select(magnitude < 1.0, nearZero(s, x), withSign(far, signOf(x)));
}

Real xtensor::emitErfc(Scalars &s, Real x) {
  Real magnitude = abs(x), far = complement(s, magnitude);
  far = select(x < 0.0, 2.0 - far, far);
  Bit near = (x < 0.75) & (x > -1.0);
  return select(near, 1.0 - nearZero(s, x), far);
}

/// erfc x = 2 - erfc(-x), and e^(x^2) erfc x is g(t) / (1 + 2x) as far as g goes, above an
/// asymptotic series.
Real xtensor::emitErfcx(Scalars &s, Real x) {
  Real magnitude = abs(x), inverse = 1.0 / magnitude, h = inverse * inverse * 0.5;
  Real series = s.real(1);
  for (int odd = 13; odd > 0; odd -= 2)
    series = 1.0 - h * series * static_cast<double>(odd);
  Ratio ratio = ratioOf(s, magnitude);
  Real far = ratio.quotient + ratio.rest;
  far = select(magnitude > s.pick(10.0, 27.0), inverse * series * 0x1.20dd750429b6dp-1, far);
  Sum square = multiplyExactly(x, x);
  auto growing = [&] {
    Real growth = emitExpOfSum(s, square.hi, square.lo);
    Real y = select(x < 0.0, growth * 2.0 - far, far);
    y = select(x > -1.0, growth * (1.0 - nearZero(s, x)), y);
    return select(x < s.pick(-10.0, -28.0), s.infinity(), y);
  };
  return s.choose(x < 0.75, growing, far);
}

//===- of the normal distribution ------------------------------------------===//

// ndtr(-a) = e^(-a^2 / 2) m(a). m is a polynomial of a - 1.75 up to 3.3, and above it one of 1 /
// a^2 over a. e^(u / 2) = 1 + u (1/2 + u q(u)) for |u| < 0.7. Minimax coefficients, error below
// 2^-26, 2^-28 and 2^-28.
static constexpr double kNearTail32[] = {
    0.185231671,     -0.0747868493,   0.0271772817,    -0.00907570031, 0.00282402989,
    -0.000826252683, 0.000229002384,  -6.13770899e-05, 1.58479161e-05, -3.37792676e-06,
    6.85160103e-07,  -3.04699427e-07, 8.26350188e-08};
static constexpr double kFarTail32[] = {0.398942262, -0.398929566, 1.19494259, -5.84406328,
                                        35.8486557,  -210.097946,  879.975525, -1784.54553};
static constexpr double kBeyondHalf32[] = {0.5,          0.12499999,    0.02083315,
                                           0.0026042752, 0.00026152810, 2.1584723e-05};

/// ndtr(-a) by erfc. The derivative of erfc puts back what the argument of erfc lacks.
static Real tailByErfc(Scalars &s, Real a) {
  a = select(a > 50.0, 50.0, a);
  constexpr double kRoot = 0x1.6a09e667f3bcdp-1, kRestOfRoot = -0x1.bdd3413b26456p-55;
  double root = s.pick(static_cast<double>(static_cast<float>(kRoot)), kRoot);
  Sum z = multiplyExactly(a, s.real(root));
  Real lacking = z.lo + a * s.pick(kRoot - root, kRestOfRoot);
  return s.call("erfc", {z.hi}) * (0.5 - z.hi * lacking);
}

namespace {

/// e^(-a^2 / 2) = (1 + beyond) 2^k.
struct Exponential {
  Real k, power, beyond;
};

} // namespace

static Exponential exponentialOf(Scalars &s, Real a) {
  // u = -a^2 - 2 k ln 2: the square is not rounded.
  auto [k, power] = nearestPower(a * a, -0x1.71547652b82fep-1);
  Real u = {math::FmaOp::create(s, (-a).value, a.value, (k * -0x1.62e4p0).value), &s};
  u = multiplyAdd(k, s.real(-0x1.7f7d1cp-19), u);
  return {k, power, u * s.evaluate({kBeyondHalf32, {}}, u)};
}

/// Of a from 3.3 on, with its exponential.
static Real farTail(Scalars &s, Real a, const Exponential &e) {
  Real m = s.evaluate({kFarTail32, {}}, 1.0 / (a * a)) / a;
  // The power may be below all normal numbers: two factors.
  Real half = floor(e.k * 0.5), y = multiplyAdd(m, e.beyond, m);
  y = y * nearestPower(half, 1).second * nearestPower(e.k - half, 1).second;
  return select(a > 14.5, 0.0, y);
}

/// The same of f32 on CPUs. Few vectors have lanes beyond 3.3. One chain of operations loses fewer
/// digits of m than several.
static Real tailByExp(Scalars &s, Real a) {
  Real center = a - 1.75, near = s.real(std::end(kNearTail32)[-1]);
  for (double c : llvm::drop_begin(llvm::reverse(kNearTail32)))
    near = multiplyAdd(near, center, s.real(c));
  Exponential e = exponentialOf(s, a);
  near = multiplyAdd(near, e.beyond, near) * e.power;
  return s.choose(a > 3.3, [&] { return farTail(s, a, e); }, near);
}

/// The Taylor series of ndtr(-a). Those of its derivative, the density, are by p' = -a p.
static void seriesOfTail(double a, MutableArrayRef<double> c) {
  double last = 0, p = std::exp(-a * a / 2) * 0.3989422804014327;
  c[0] = std::erfc(a * 0.7071067811865476) / 2;
  for (unsigned n = 1; n < c.size(); ++n) {
    c[n] = -p / n;
    last = std::exchange(p, -(a * p + last) / n);
  }
}

/// The same by pieces: error below 2^-26 of the result, or 2^-15 of it.
static Real tailByPieces(Scalars &s, Real a) {
  static const Pieces fine = makePieces(5, seriesOfTail), rough = makePieces(3, seriesOfTail);
  auto far = [&] { return farTail(s, a, exponentialOf(s, a)); };
  return s.choose(a >= kEndOfPieces, far, evaluate(s, s.isRough ? rough : fine, a));
}

// log2 ndtr(-a) up to 4, and 2^r for |r| <= 1/2: minimax, together below 2^-17.9 of the result.
static constexpr double kLogOfTail16[] = {-0.9999993,  -1.1511637,     -0.4588195,  -0.05341759,
                                          0.008116673, -0.00078692957, 3.563836e-05};
static constexpr double kPower16[] = {0.9999993, 0.6931218, 0.24024744, 0.05591786, 0.009570101};

/// The same with 16 digits: a single exponential.
static Real roughTail(Scalars &s, Real a) {
  Real exponent = s.evaluate({kLogOfTail16, {}}, a);
  auto [k, power] = nearestPower(exponent, 1);
  Real near = s.evaluate({kPower16, {}}, exponent - k) * power;
  return s.choose(a > 4.0, [&] { return tailByExp(s, a); }, near);
}

static Real tailOf(Scalars &s, Real a) {
  if (s.wide || !s.roundsOnce)
    return tailByErfc(s, a);
  if (s.permutes)
    return tailByPieces(s, a);
  return s.isRough ? roughTail(s, a) : tailByExp(s, a);
}

Real xtensor::emitNdtr(Scalars &s, Real x) {
  Real tail = tailOf(s, abs(x));
  return select(x < 0.0, tail, 1.0 - tail);
}

/// The greater one of x and 0, less |x| ndtr(-|x|). Results below all numbers are -0.0.
Real xtensor::emitTimesNdtr(Scalars &s, Real x) {
  Real a = abs(x), end = s.real(s.pick(kEndOfTail32, kEndOfTail64));
  a = select(a > end, end, a); // infinity times 0 would be NaN
  Real positive = select(x < -0.0, -0.0, x);
  return multiplyAdd(-a, tailOf(s, a), positive);
}

//===- inverses ------------------------------------------------------------===//

static constexpr double kCentral32[] = {1.5014094,     0.24664028,   -0.004177393,   -0.0012527264,
                                        0.00021834939, -4.97242e-06, -3.4639852e-06, 4.6813136e-07,
                                        2.3335968e-08, -8.931926e-09};
static constexpr double kCentral64[] = {
    1.6536545626831027,      0.2401581824255883,     -0.00603367087142785,
    -0.000740702534154477,   0.00018673420802464837, -1.3882523394405316e-05,
    -1.3654691850603575e-06, 4.234788173782339e-07,  -2.9070382262927266e-08,
    -4.11266082002324e-09,   1.0512181539804126e-09, -5.414287198084716e-11,
    -1.2976885526532075e-11, 2.6304834740560442e-12, -8.118399443074353e-14,
    -4.001237735091896e-14,  6.596407712420834e-15,  -4.0282154327661744e-17,
    -1.3016928016796445e-16, 1.557432024623325e-17,  1.150022252066253e-18,
    -3.4996044354754177e-19, -1.113483769832702e-21, 3.240704459379902e-21};
static constexpr double kMiddle32[] = {2.8329768,      1.0016752,     0.009445338,   -0.007643783,
                                       0.0056875786,   -0.0035614667, 0.0014739889,  -0.00013179147,
                                       -0.00027236526, 0.00016890274, -3.4692497e-05};
static constexpr double kMiddle64[] = {
    3.0838856104922208,      1.0052589676941652,      0.00537091455357168,
    -0.003751208508215561,   0.0024914420969817607,   -0.0016882755357337071,
    0.0009532893637435638,   -0.00035503780975963814, 2.4031257015092525e-05,
    6.828708654753377e-05,   -4.731898412011245e-05,  1.2465167157087251e-05,
    2.9257291901789823e-06,  -3.986084395214756e-06,  1.4987130784186127e-06,
    -2.7004219280868947e-08, -2.713451105439456e-07,  1.3104351499972014e-07,
    6.969241977629694e-10,   -1.5102695423335065e-08};
static constexpr double kOuter32[] = {
    6.8690195,     1.0085956,      -0.00051263144, 6.2946237e-06,  6.0261987e-06, -1.6235828e-06,
    3.2676624e-07, -5.3663104e-08, 6.259348e-09,   -1.1975533e-09, 3.9105671e-10, -4.8921468e-11};
static constexpr double kOuter64[] = {
    4.849906401408584,       1.010300464864545,       -0.0001387193183792655,
    -0.00021503011981034131, 7.59952780722494e-05,    -1.968177101388551e-05,
    4.526052783887769e-06,   -9.930268570958415e-07,  2.2905148139287066e-07,
    -6.756716761294096e-08,  2.90224946459974e-08,    -1.5227153184691098e-08,
    7.814987583571685e-09,   -3.5142516690701246e-09, 1.3222656092606688e-09,
    -3.983167101503258e-10,  6.62838276430804e-11,    2.3233403117956615e-11,
    -1.9674868463456363e-11, 4.137767423908364e-12};
static constexpr double kOutermost64[] = {
    15.917016980290146,      1.0032412770646186,      -0.00014201646200250737,
    6.359950766209855e-06,   -2.7986247828345694e-07, 1.1626617605389376e-08,
    -4.223715373808567e-10,  1.0185063512155683e-11,  2.4330661208456703e-13,
    -6.358175408405875e-14,  6.6585359142006215e-15,  -5.655369910023655e-16,
    4.361649564395514e-17,   -3.2127147473793016e-18, 2.3244015054714334e-19,
    -1.5432433582082124e-20, 8.690335398739654e-22,   -7.259634046429253e-23,
    9.162806033201668e-24,   -3.58019227984776e-25,   -5.632891092707518e-26,
    9.752838390488967e-28,   1.0039001012636076e-27,  -4.7600972623404005e-29,
    -7.367546044491252e-30,  4.614633150759293e-31,   4.2467124699182607e-32,
    -3.533328433315381e-33,  -1.0899799823588257e-34, 1.4301833858089454e-35,
    2.6165556573290125e-38,  -3.0669190125000895e-38, 7.397243255125196e-40};

/// erfinv z over z, from w = -log(1 - z^2) and its root (Giles, 2010): smooth, as long as the tail
/// is in parts. `isTail` if z may be so near to 1 that only erfc tells it from 1.
static Real inverseOverArgument(Scalars &s, Real w, bool isTail) {
  auto outer = [&] {
    Real root = sqrt(w), y = s.evaluate({kMiddle32, kMiddle64}, root - s.pick(3.0, 3.25));
    auto polynomial = [&](const Polynomial &p, double center) {
      return [&s, root, p, center] { return s.evaluate(p, root - center); };
    };
    if (s.wide || isTail)
      y = s.choose(w >= s.pick(16.5, 16.0), polynomial({kOuter32, kOuter64}, s.pick(7.0, 5.0)), y);
    if (s.wide && isTail)
      y = s.choose(root >= 6.1, polynomial({{}, kOutermost64}, 16.0), y);
    return y;
  };
  Real center = s.evaluate({kCentral32, kCentral64}, w - s.pick(2.5, 3.125));
  return s.choose(w >= s.pick(5.0, 6.25), outer, center);
}

Real xtensor::emitErfinv(Scalars &s, Real x) {
  Real magnitude = abs(x), t = (1.0 - magnitude) * (magnitude + 1.0);
  // No branch for arguments outside of the domain: these are selected.
  bool isPlain = s.wide && s.fuses;
  Real w = isPlain ? emitMinusLog(s, t) : -s.call("log", {t});
  Real y = x * inverseOverArgument(s, w, /*isTail=*/false);
  if (isPlain)
    y = select(magnitude > 1.0, s.nan(), y);
  return select(magnitude == 1.0, withSign(s.infinity(), signOf(x)), y);
}

Real xtensor::emitErfcinv(Scalars &s, Real x) {
  Real w = -s.call("log", {x * (2.0 - x)});
  Real y = (1.0 - x) * inverseOverArgument(s, w, /*isTail=*/true);
  y = select(x == 0.0, s.infinity(), y);
  return select(x == 2.0, -s.infinity(), y);
}

// Bessel functions of order 0 and 1, of the first and second kind. Up to 8: those of the first kind
// are polynomials in x^2 times their zeros there; those of the second kind are them times 2 / pi
// log x, and polynomials. Above: Hankel's form, DLMF 10.17, whose amplitudes are polynomials in 1 /
// x^2. Coefficients: interpolation at Chebyshev's nodes, error below 2^-28 (f32) and 2^-56 (f64).
#include "Functions/Functions.h"

using namespace mlir;
using namespace xtensor;

static constexpr double kJ0Near32[] = {0.0011434938,  -0.0021197943,  0.0015636431,  -0.00064153905,
                                       0.00016977213, -3.1573432e-05, 4.3665746e-06, -4.676952e-07,
                                       4.0396685e-08, -2.8149723e-09};
static constexpr double kJ0Near64[] = {
    0.0011434937743762545,  -0.002119794289479692,   0.0015636431645931661, -0.0006415390646406123,
    0.00016977200713997844, -3.157342540223544e-05,  4.366932324640601e-06, -4.677128021300755e-07,
    3.9988393454959875e-08, -2.7948629678312687e-09, 1.627648945732473e-10, -8.023472603248695e-12,
    3.3923324014926297e-13, -1.2482966637990574e-14, 4.006178286297737e-16};
static constexpr double kJ1Near32[] = {0.00019498936,  -0.00026975226, 0.00015860017,
                                       -5.4080087e-05, 1.2242177e-05,  -1.988895e-06,
                                       2.442416e-07,   -2.3786075e-08, 1.8410338e-09};
static constexpr double kJ1Near64[] = {
    0.00019498936985895625,  -0.0002697522746716368, 0.00015860016799369858,
    -5.4080032390855064e-05, 1.224217365301787e-05,  -1.9890935159142006e-06,
    2.442522260616403e-07,   -2.352192254597121e-08, 1.8268548082869076e-09,
    -1.169693248966763e-10,  6.2846769866729685e-12, -2.8755334378568987e-13,
    1.1384465070771561e-14,  -3.9096323215705757e-16};
static constexpr double kY0Near32[] = {-0.38225067,   -0.8284359,    1.6470965,     0.14412633,
                                       -1.0775476,    0.6721771,     -0.21895804,   0.046367075,
                                       -0.0070246486, 0.00080610305, -7.376499e-05, 5.370643e-06};
static constexpr double kY0Near64[] = {
    -0.382250654459425,     -0.8284358903604587,    1.6470964788745466,     0.14412632369302475,
    -1.0775477338215995,    0.6721770783431679,     -0.2189574709617164,    0.046367047681375125,
    -0.007025741057270546,  0.00080615860596164,    -7.279541882544516e-05, 5.321318810394401e-06,
    -3.218507833909702e-07, 1.6390875017619395e-08, -7.130468040126112e-10, 2.6926937109987802e-11,
    -8.838468394309022e-13};
static constexpr double kY1Near32[] = {0.070759855,    -0.24337743,  0.02336757,    0.23507205,
                                       -0.19639839,    0.078548156,  -0.019628773,  0.003421832,
                                       -0.00044378103, 4.533194e-05, -3.6372915e-06};
static constexpr double kY1Near64[] = {
    0.07075985882118005,     -0.24337743079193114,  0.02336757172099348,     0.23507209206669755,
    -0.19639839859930203,    0.07854786922242538,   -0.01962875683311711,    0.0034224907399185273,
    -0.00044381734344201836, 4.4674330127252e-05,   -3.6010000225850992e-06, 2.3804930317310604e-07,
    -1.3153147370992129e-08, 6.169694909376002e-10, -2.4995314348224963e-11, 8.758166378734063e-13};
static constexpr double kP032[] = {0.9994573, -0.0005363672, 6.1503592e-06, -2.0650921e-07};
static constexpr double kP064[] = {
    0.9994572757882519,      -0.0005363673192129684,  6.137416080147722e-06,
    -2.0527448258799454e-07, 1.2803760990761632e-08,  -1.2121099519052884e-09,
    1.5500758850965851e-10,  -2.4911156906092825e-11, 4.7832464504070676e-12,
    -1.0160586409351026e-12, 2.486651879170221e-13,   -1.0240462527458219e-13,
    3.2274659236696375e-14};
static constexpr double kQ032[] = {-0.015555114, 6.833141e-05, -1.4828933e-06, 7.1721026e-08};
static constexpr double kQ064[] = {
    -0.015555113879513518,  6.833149099340181e-05, -1.4771388326326161e-06, 7.106214962531977e-08,
    -5.668716508839409e-09, 6.432700575092725e-10, -9.470049323873473e-11,  1.7060039990025773e-11,
    -3.600800980276718e-12, 8.17618961828763e-13,  -2.1358610324948248e-13, 9.880614422104021e-14,
    -3.290512104579495e-14};
static constexpr double kP132[] = {1.0009071, 0.0008988045, -7.959639e-06, 2.471035e-07,
                                   -1.4929487e-08};
static constexpr double kP164[] = {
    1.0009070262780821,      0.0008988049416705195,  -7.959694698478657e-06, 2.45367663311693e-07,
    -1.470851251614582e-08,  1.360297066536911e-09,  -1.713127898085761e-10, 2.7234187811287063e-11,
    -5.1871998149145174e-12, 1.0958092927251801e-12, -2.668914316041983e-13, 1.0911783467601572e-13,
    -3.4273425511664546e-14};
static constexpr double kQ132[] = {0.046776872, -9.62145e-05, 1.827716e-06, -8.365167e-08};
static constexpr double kQ164[] = {
    0.04677687402744898,   -9.62145882205051e-05,  1.821201851212985e-06,  -8.291960817886298e-08,
    6.420132983280182e-09, -7.151019662394418e-10, 1.0394713335929504e-10, -1.8553134587620622e-11,
    3.888522348889332e-12, -8.788872273527316e-13, 2.286132581833056e-13,  -1.0501510922586431e-13,
    3.486504421950585e-14};
static constexpr double kTwoOverPi = 0.63661977236758134308, kInvPi = 0.31830988618379067154;

namespace {

/// A zero in two parts.
struct Zero {
  double high32, low32, high64, low64;
};

struct Coefficients {
  Polynomial first, second, amplitude, phase;
  Zero zeros[2];
};

} // namespace

static const Coefficients kOrders[] = {
    {{kJ0Near32, kJ0Near64},
     {kY0Near32, kY0Near64},
     {kP032, kP064},
     {kQ032, kQ064},
     {{0x1.33d152p+1, 1.087059047222283e-07, 0x1.33d152e971b40p+1, -1.176691651530894e-16},
      {0x1.6148f6p+2, -7.193414575112911e-08, 0x1.6148f5b2c2e45p+2, 8.088597146146722e-17}}},
    {{kJ1Near32, kJ1Near64},
     {kY1Near32, kY1Near64},
     {kP132, kP164},
     {kQ132, kQ164},
     {{0x1.ea7558p+1, -7.685058989181925e-08, 0x1.ea75575af6f09p+1, -1.5269184090088067e-16},
      {0x1.c0ff60p+2, -1.832117249023213e-07, 0x1.c0ff5f3b47250p+2, -9.414165653410389e-17}}},
};

/// Of x from 0 to 8. Near a zero, the difference to it has all digits.
static Real firstNear(Scalars &s, int order, Real x) {
  Real y = s.evaluate(kOrders[order].first, x * x * 0.03125 - 1.0);
  for (const Zero &zero : kOrders[order].zeros) {
    double high = s.pick(zero.high32, zero.high64), low = s.pick(zero.low32, zero.low64);
    y = y * (((x - high) - low) * (x + high));
  }
  return order ? x * y : y;
}

static Real secondNear(Scalars &s, int order, Real x) {
  Real logarithm = s.call("log", {x}), first = firstNear(s, order, x);
  Real smooth = s.evaluate(kOrders[order].second, x * x * 0.03125 - 1.0);
  if (!order)
    return first * logarithm * kTwoOverPi + smooth;
  return (first * logarithm * kTwoOverPi - kTwoOverPi / x) + x * smooth;
}

/// Of x above 8: sqrt(2 / (pi x)) (P cos(x - phase) - 8 / x Q sin(x - phase)), or the sine of that
/// angle. The phase is a multiple of pi / 4.
static Real far(Scalars &s, int order, bool isSecond, Real x) {
  Real inverse = 8.0 / x, at = inverse * inverse * 2.0 - 1.0;
  Real p = s.evaluate(kOrders[order].amplitude, at);
  Real q = s.evaluate(kOrders[order].phase, at) * inverse;
  Real sine = s.call("sin", {x}), cosine = s.call("cos", {x});
  Real sum = sine + cosine, difference = sine - cosine;
  Real y = order ? (isSecond ? q * difference - p * sum : p * difference + q * sum)
                 : (isSecond ? p * difference + q * sum : p * sum - q * difference);
  return select(x == s.infinity(), 0.0, y * sqrt(kInvPi / x));
}

static Real firstKind(Scalars &s, int order, Real x) {
  Real magnitude = abs(x), y = firstNear(s, order, magnitude);
  y = s.choose(magnitude > 8.0, [&] { return far(s, order, /*isSecond=*/false, magnitude); }, y);
  return order ? select(x < 0.0, -y, select(x == 0.0, x, y)) : y;
}

static Real secondKind(Scalars &s, int order, Real x) {
  Real y = secondNear(s, order, x);
  y = s.choose(x > 8.0, [&] { return far(s, order, /*isSecond=*/true, x); }, y);
  return select(x == 0.0, -s.infinity(), select(x < 0.0, s.nan(), y));
}

Real xtensor::emitJ0(Scalars &s, Real x) { return firstKind(s, 0, x); }
Real xtensor::emitJ1(Scalars &s, Real x) { return firstKind(s, 1, x); }
Real xtensor::emitY0(Scalars &s, Real x) { return secondKind(s, 0, x); }
Real xtensor::emitY1(Scalars &s, Real x) { return secondKind(s, 1, x); }

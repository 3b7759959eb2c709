/* Factors of matrices of complex numbers, of one element type T: Factors of the runtime and of
 * libraries for C (aot/lapack.c) include it once for each. Complex numbers are two T side by side:
 * each array has the axes of its batch, of the matrix, and of the pair last. If LAPACK fails, or
 * the matrix is not finite, the result is NaN. LAPACK never gets a NaN.
 *
 * OF(name) is the name of a function of T, LAPACK(name) that of a real routine, and
 * COMPLEX_LAPACK(name) that of a complex one. */

#ifndef XT_COMPLEX_FACTORS_H
#define XT_COMPLEX_FACTORS_H

enum {
  kComplexCholesky,
  kComplexEig,
  kComplexEigh,
  kComplexLu,
  kComplexLuSolve,
  kComplexQr,
  kComplexSvd,
  kComplexTriangularSolve
};

/* What the matrices of one call have in common. */
typedef struct {
  int kind, m, n, k;
  int work, reals, integers; /* lengths of LAPACK's memory */
  int64_t bytes;             /* of scratch memory for one matrix */
  int32_t batch;             /* how many axes come before those of a matrix */
  int options[2];
  int64_t columns; /* of a right-hand side */
  const xt_array *arrays;
} xt_complex_plan;

static int64_t xt_complex_room(int64_t bytes) {
  return (bytes > 0 ? bytes + 63 : 64) & ~(int64_t)63;
}
static char *xt_complex_take(char **scratch, int64_t bytes) {
  char *found = *scratch;
  *scratch += xt_complex_room(bytes);
  return found;
}
static int xt_complex_most(int a, int b) { return a > b ? a : b; }

#endif

#ifdef __cplusplus
extern "C" {
#endif
void COMPLEX_LAPACK(potrf_)(const char *, const int *, T *, const int *, int *, size_t);
void COMPLEX_LAPACK(trsm_)(const char *, const char *, const char *, const char *, const int *,
                           const int *, const T *, const T *, const int *, T *, const int *, size_t,
                           size_t, size_t, size_t);
void COMPLEX_LAPACK(getrf_)(const int *, const int *, T *, const int *, int *, int *);
void COMPLEX_LAPACK(geqrf_)(const int *, const int *, T *, const int *, T *, T *, const int *,
                            int *);
void COMPLEX_LAPACK(ungqr_)(const int *, const int *, const int *, T *, const int *, const T *, T *,
                            const int *, int *);
void COMPLEX_LAPACK(heevd_)(const char *, const char *, const int *, T *, const int *, T *, T *,
                            const int *, T *, const int *, int *, const int *, int *, size_t,
                            size_t);
void COMPLEX_LAPACK(gesdd_)(const char *, const int *, const int *, T *, const int *, T *, T *,
                            const int *, T *, const int *, T *, const int *, T *, int *, int *,
                            size_t);
void COMPLEX_LAPACK(geev_)(const char *, const char *, const int *, T *, const int *, T *, T *,
                           const int *, T *, const int *, T *, const int *, T *, int *, size_t,
                           size_t);
void LAPACK(geev_)(const char *, const char *, const int *, T *, const int *, T *, T *, T *,
                   const int *, T *, const int *, T *, const int *, int *, size_t, size_t);
#ifdef __cplusplus
}
#endif

/* A matrix, or a vector as a column, in memory: its strides, and how far apart both parts are. */
typedef struct {
  T *data;
  int64_t rows, columns, down, along, part; /* part 0: real numbers */
} OF(Pairs);

/* Array `i` of the plan, `axes` axes of which are the matrix. */
static OF(Pairs) OF(pairsOf)(const xt_complex_plan *plan, const int64_t *at, int i, int axes) {
  const xt_array *a = plan->arrays + i;
  const int32_t b = plan->batch;
  OF(Pairs) found;
  found.data = (T *)a->data + at[i];
  found.rows = a->sizes[b];
  found.columns = axes > 1 ? a->sizes[b + 1] : 1;
  found.down = a->strides[b];
  found.along = axes > 1 ? a->strides[b + 1] : 0;
  found.part = a->rank > b + axes ? a->strides[b + axes] : 0;
  return found;
}

/* Column-major complex numbers, or real ones if the matrix has no parts. */
static void OF(store)(const T *from, int64_t rows, OF(Pairs) to) {
  const int64_t each = to.part ? 2 : 1;
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j) {
      T *here = to.data + i * to.down + j * to.along;
      here[0] = from[each * (i + j * rows)];
      if (to.part)
        here[to.part] = from[2 * (i + j * rows) + 1];
    }
}
static void OF(storeNan)(OF(Pairs) to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j)
      for (int p = 0; p <= (to.part != 0); ++p)
        to.data[i * to.down + j * to.along + p * to.part] = (T)__builtin_nan("");
}
/* Eigenvalues and -vectors, or NaN where there are none. */
static void OF(storeValues)(int info, int64_t n, const T *values, OF(Pairs) w, const T *vectors,
                            OF(Pairs) v) {
  if (info) {
    OF(storeNan)(w);
    OF(storeNan)(v);
    return;
  }
  OF(store)(values, n, w);
  OF(store)(vectors, n, v);
}

/* Column-major; whether all are finite. */
static int OF(load)(OF(Pairs) from, T *to) {
  int finite = 1;
  for (int64_t j = 0; j < from.columns; ++j)
    for (int64_t i = 0; i < from.rows; ++i) {
      const T *here = from.data + i * from.down + j * from.along;
      T *there = to + 2 * (i + j * from.rows);
      there[0] = here[0];
      there[1] = here[from.part];
      finite &= __builtin_isfinite(there[0]) && __builtin_isfinite(there[1]);
    }
  return finite;
}

/* The lengths that LAPACK asks for. */
static xt_complex_plan OF(complexPlan)(int kind, const xt_array *arrays, const int64_t *options) {
  const int32_t batch = arrays[0].rank - 3;
  const int m = (int)arrays[0].sizes[batch], n = (int)arrays[0].sizes[batch + 1];
  const int k = m < n ? m : n, ask = -1, lda = m > 0 ? m : 1;
  xt_complex_plan plan = {kind, m, n, k, 1, 1, 1, 0, batch, {0, 0}, 1, arrays};
  T sizes[4] = {1, 0, 1, 0}, reals[2] = {1, 0}, none[2] = {0, 0};
  int info = 0, integers = 1, inone = 0;
  if (k > 0 && kind == kComplexQr) {
    COMPLEX_LAPACK(geqrf_)(&m, &n, none, &lda, none, sizes, &ask, &info);
    COMPLEX_LAPACK(ungqr_)(&m, &k, &k, none, &lda, none, sizes + 2, &ask, &info);
  } else if (k > 0 && kind == kComplexEigh) {
    COMPLEX_LAPACK(heevd_)("V", "L", &m, none, &lda, none, sizes, &ask, reals, &ask, &integers,
                           &ask, &info, 1, 1);
  } else if (k > 0 && kind == kComplexSvd) {
    COMPLEX_LAPACK(gesdd_)("S", &m, &n, none, &lda, none, none, &lda, none, &k, sizes, &ask, reals,
                           &inone, &info, 1);
    reals[0] = (T)xt_complex_most(5 * k * k + 5 * k, 2 * (m > n ? m : n) * k + 2 * k * k + k);
    integers = 8 * k;
  } else if (k > 0 && kind == kComplexEig) {
    COMPLEX_LAPACK(geev_)("N", "V", &m, none, &lda, none, none, &lda, none, &lda, sizes, &ask,
                          reals, &info, 1, 1);
    LAPACK(geev_)("N", "V", &m, none, &lda, none, none, none, &lda, none, &lda, sizes + 2, &ask,
                  &info, 1, 1);
    reals[0] = (T)(2 * m);
  }
  const int solves = kind == kComplexLuSolve || kind == kComplexTriangularSolve;
  if (solves) {
    const xt_array *x = arrays + (kind == kComplexLuSolve ? 4 : 2);
    for (int i = 0; i < (kind == kComplexLuSolve ? 1 : 2); ++i)
      plan.options[i] = options[i] != 0;
    for (int32_t d = batch + 1; d + 1 < x->rank; ++d)
      plan.columns *= x->sizes[d];
  }
  plan.work = (int)(sizes[0] > sizes[2] ? sizes[0] : sizes[2]) + 1;
  plan.reals = (int)reals[0] + 1;
  plan.integers = xt_complex_most(integers, k);
  const int64_t each = 2 * (int64_t)sizeof(T);
  /* The matrix, two more, values, and LAPACK's own. */
  const int64_t right = solves ? m * plan.columns : (int64_t)k * n;
  plan.bytes = xt_complex_room(each * m * n) + xt_complex_room(each * m * k) +
               xt_complex_room(each * right) + xt_complex_room(each * k) +
               xt_complex_room(each * plan.work) +
               xt_complex_room((int64_t)sizeof(T) * plan.reals) +
               xt_complex_room((int64_t)sizeof(int) * plan.integers);
  return plan;
}

/* Memory for one matrix, and the matrix in it. */
typedef struct {
  T *a, *left, *right, *values, *work, *reals;
  int *integers, finite;
} OF(Space);

static OF(Space) OF(spaceOf)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  const int64_t each = 2 * (int64_t)sizeof(T), m = plan->m, n = plan->n, k = plan->k;
  OF(Space) s;
  s.a = (T *)xt_complex_take(&scratch, each * m * n);
  s.left = (T *)xt_complex_take(&scratch, each * m * k);
  s.right = (T *)xt_complex_take(&scratch, each * k * n);
  s.values = (T *)xt_complex_take(&scratch, each * k);
  s.work = (T *)xt_complex_take(&scratch, each * plan->work);
  s.reals = (T *)xt_complex_take(&scratch, (int64_t)sizeof(T) * plan->reals);
  s.integers = (int *)xt_complex_take(&scratch, (int64_t)sizeof(int) * plan->integers);
  s.finite = OF(load)(OF(pairsOf)(plan, at, 0, 2), s.a);
  return s;
}

/* a -> w, v */
static void OF(complexEig)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs) w = OF(pairsOf)(plan, at, 1, 1), v = OF(pairsOf)(plan, at, 2, 2);
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int n = plan->m, lda = n > 0 ? n : 1, one = 1;
  const int64_t count = (int64_t)n * n;
  int info = plan->m != plan->n || !s.finite, real = 1;
  for (int64_t i = 0; i < count && real && !info; ++i)
    real = s.a[2 * i + 1] == 0;
  if (!info && n > 0 && !real) {
    COMPLEX_LAPACK(geev_)("N", "V", &n, s.a, &lda, s.values, s.work, &one, s.left, &lda, s.work,
                          &plan->work, s.reals, &info, 1, 1);
  } else if (!info && n > 0) {
    /* Of a real matrix, complex values come in pairs, and vectors as two columns of parts. */
    T *re = s.reals, *im = s.reals + n, *columns = s.right;
    for (int64_t i = 0; i < count; ++i)
      s.a[i] = s.a[2 * i];
    LAPACK(geev_)("N", "V", &n, s.a, &lda, re, im, s.work, &one, columns, &lda, s.work, &plan->work,
                  &info, 1, 1);
    for (int j = 0; j < n && !info; ++j) {
      const int first = im[j] > 0 && j + 1 < n, second = im[j] < 0 && j > 0;
      const T *x = columns + (int64_t)(j - second) * n, *y = x + n;
      s.values[2 * j] = re[j];
      s.values[2 * j + 1] = im[j];
      for (int64_t i = 0; i < n; ++i) {
        s.left[2 * (i + (int64_t)j * n)] = x[i];
        s.left[2 * (i + (int64_t)j * n) + 1] = first ? y[i] : second ? -y[i] : 0;
      }
    }
  }
  OF(storeValues)(info, n, s.values, w, s.left, v);
}

/* The lower triangle of (A + A^H) / 2. */
static void OF(takeHermitian)(T *a, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      T *x = a + 2 * (i + j * n), *y = a + 2 * (j + i * n);
      x[0] = (T)0.5 * x[0] + (T)0.5 * y[0];
      x[1] = i == j ? 0 : (T)0.5 * x[1] - (T)0.5 * y[1];
    }
}

/* a -> l */
static void OF(complexCholesky)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs) l = OF(pairsOf)(plan, at, 1, 2);
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int n = plan->m, lda = n > 0 ? n : 1;
  int info = plan->m != plan->n || !s.finite;
  if (!info && n > 0) {
    OF(takeHermitian)(s.a, n);
    COMPLEX_LAPACK(potrf_)("L", &n, s.a, &lda, &info, 1);
  }
  for (int64_t j = 0; j < plan->n && plan->m == plan->n; ++j)
    for (int64_t i = 0; i < n; ++i)
      for (int p = 0; p < 2; ++p) {
        T *x = s.a + 2 * (i + j * n) + p;
        *x = i < j || (i == j && p) ? 0 : info ? (T)__builtin_nan("") : *x;
      }
  if (plan->m == plan->n)
    OF(store)(s.a, n, l);
  else
    OF(storeNan)(l);
}

/* a -> w, v of the Hermitian part */
static void OF(complexEigh)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs) w = OF(pairsOf)(plan, at, 1, 1), v = OF(pairsOf)(plan, at, 2, 2);
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int n = plan->m, lda = n > 0 ? n : 1;
  int info = plan->m != plan->n || !s.finite;
  if (!info && n > 0) {
    OF(takeHermitian)(s.a, n);
    COMPLEX_LAPACK(heevd_)("V", "L", &n, s.a, &lda, s.values, s.work, &plan->work, s.reals,
                           &plan->reals, s.integers, &plan->integers, &info, 1, 1);
  }
  OF(storeValues)(info, n, s.values, w, s.a, v);
}

/* a -> l, u, order, parity */
static void OF(complexLu)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs) l = OF(pairsOf)(plan, at, 1, 2), u = OF(pairsOf)(plan, at, 2, 2);
  int64_t *order = (int64_t *)plan->arrays[3].data + at[3];
  const int64_t step = plan->arrays[3].strides[plan->batch];
  T *parity = (T *)plan->arrays[4].data + at[4];
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int m = plan->m, n = plan->n, k = plan->k, lda = m > 0 ? m : 1;
  int info = 0;
  *parity = 1;
  for (int64_t i = 0; i < m; ++i)
    order[i * step] = i;
  if (!s.finite) {
    OF(storeNan)(l);
    OF(storeNan)(u);
    return;
  }
  if (k > 0)
    COMPLEX_LAPACK(getrf_)(&m, &n, s.a, &lda, s.integers, &info);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t other = s.integers[i] - 1, kept = order[i * step];
    if (other == i)
      continue;
    order[i * step] = order[other * step];
    order[other * step] = kept;
    *parity = -*parity;
  }
  for (int64_t j = 0; j < k; ++j)
    for (int64_t i = 0; i < m; ++i)
      for (int p = 0; p < 2; ++p)
        s.left[2 * (i + j * m) + p] = i > j ? s.a[2 * (i + j * m) + p] : (T)(i == j && !p);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i)
      for (int p = 0; p < 2; ++p)
        s.right[2 * (i + j * k) + p] = i > j ? 0 : s.a[2 * (i + j * m) + p];
  OF(store)(s.left, m, l);
  OF(store)(s.right, k, u);
}

/* Columns of b, the axes between its row and its parts, to `right`, or `back` from there to x. The
 * order of LU factors goes with the rows of b, or for the adjoint with those of x. */
static void OF(moveColumns)(const xt_complex_plan *plan, const int64_t *at, int back, int fails,
                            T *right) {
  const int isLu = plan->kind == kComplexLuSolve, i0 = isLu ? 3 : 1;
  const xt_array *b = plan->arrays + i0, *x = b + 1, *moved = back ? x : b;
  const int32_t first = plan->batch, last = x->rank - 1;
  const int64_t *rows = isLu ? (const int64_t *)plan->arrays[2].data + at[2] : 0;
  const int64_t step = isLu ? plan->arrays[2].strides[first] : 0, n = plan->m;
  const int turned = rows && plan->options[0] == back;
  for (int64_t c = 0; c < plan->columns; ++c) {
    T *there = (T *)moved->data + at[i0 + back], *column = right + 2 * c * n;
    for (int64_t d = last - 1, rest = c; d > first; --d) {
      there += rest % x->sizes[d] * moved->strides[d];
      rest /= x->sizes[d];
    }
    for (int64_t i = 0; i < n; ++i) {
      int64_t row = turned ? rows[i * step] : i;
      row = row < 0 ? 0 : row < n ? row : n - 1;
      T *number = there + row * moved->strides[first];
      for (int p = 0; p < 2; ++p, number += moved->strides[last])
        if (back)
          *number = fails ? (T)__builtin_nan("") : column[2 * i + p];
        else
          column[2 * i + p] = *number;
    }
  }
}

/* l, u, order, b -> x; or a, b -> x */
static void OF(complexSolve)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  const int64_t each = 2 * (int64_t)sizeof(T);
  const int n = plan->m, lda = n > 0 ? n : 1, columns = (int)plan->columns;
  const int isLu = plan->kind == kComplexLuSolve, adjoint = isLu && plan->options[0];
  T *matrix = (T *)xt_complex_take(&scratch, each * n * plan->n);
  T *upper = (T *)xt_complex_take(&scratch, each * n * plan->k);
  T *right = (T *)xt_complex_take(&scratch, each * n * plan->columns);
  const int fails = plan->m != plan->n;
  OF(moveColumns)(plan, at, 0, fails, right);
  if (!fails && n > 0 && columns > 0) {
    const T one[2] = {1, 0};
    OF(load)(OF(pairsOf)(plan, at, 0, 2), matrix);
    if (isLu)
      OF(load)(OF(pairsOf)(plan, at, 1, 2), upper);
    for (int pass = 0; pass <= isLu; ++pass) {
      const int isUpper = isLu ? pass != adjoint : plan->options[0];
      const int unit = isLu ? !isUpper : plan->options[1];
      COMPLEX_LAPACK(trsm_)("L", isUpper ? "U" : "L", adjoint ? "C" : "N", unit ? "U" : "N", &n,
                            &columns, one, isLu && isUpper ? upper : matrix, &lda, right, &lda, 1,
                            1, 1, 1);
    }
  }
  OF(moveColumns)(plan, at, 1, fails, right);
}

/* a -> q, r; the diagonal of r is real */
static void OF(complexQr)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs) q = OF(pairsOf)(plan, at, 1, 2), r = OF(pairsOf)(plan, at, 2, 2);
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int m = plan->m, n = plan->n, k = plan->k;
  int info;
  if (k == 0)
    return;
  if (!s.finite) {
    OF(storeNan)(q);
    OF(storeNan)(r);
    return;
  }
  COMPLEX_LAPACK(geqrf_)(&m, &n, s.a, &m, s.values, s.work, &plan->work, &info);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i)
      for (int p = 0; p < 2; ++p)
        s.right[2 * (i + j * k) + p] = i > j ? 0 : s.a[2 * (i + j * m) + p];
  COMPLEX_LAPACK(ungqr_)(&m, &k, &k, s.a, &m, s.values, s.work, &plan->work, &info);
  OF(store)(s.a, m, q);
  OF(store)(s.right, k, r);
}

/* a -> u, s, vh */
static void OF(complexSvd)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  OF(Pairs)
  to[3] = {OF(pairsOf)(plan, at, 1, 2), OF(pairsOf)(plan, at, 2, 1), OF(pairsOf)(plan, at, 3, 2)};
  OF(Space) s = OF(spaceOf)(plan, at, scratch);
  const int m = plan->m, n = plan->n, k = plan->k;
  int info = !s.finite;
  if (!info && k > 0)
    COMPLEX_LAPACK(gesdd_)("S", &m, &n, s.a, &m, s.values, s.left, &m, s.right, &k, s.work,
                           &plan->work, s.reals, s.integers, &info, 1);
  const T *from[3] = {s.left, s.values, s.right};
  const int rows[3] = {m, k, k};
  for (int i = 0; i < 3; ++i)
    if (info)
      OF(storeNan)(to[i]);
    else
      OF(store)(from[i], rows[i], to[i]);
}

static void OF(complexFactor)(const xt_complex_plan *plan, const int64_t *at, char *scratch) {
  switch (plan->kind) {
  case kComplexCholesky:
    return OF(complexCholesky)(plan, at, scratch);
  case kComplexEig:
    return OF(complexEig)(plan, at, scratch);
  case kComplexEigh:
    return OF(complexEigh)(plan, at, scratch);
  case kComplexLu:
    return OF(complexLu)(plan, at, scratch);
  case kComplexLuSolve:
  case kComplexTriangularSolve:
    return OF(complexSolve)(plan, at, scratch);
  case kComplexQr:
    return OF(complexQr)(plan, at, scratch);
  default:
    return OF(complexSvd)(plan, at, scratch);
  }
}

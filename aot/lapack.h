/* Factorisations and solves of one element type T, whose LAPACK names begin with P: included by
 * lapack.c once for each. As runtime/Factors.cpp and Solve.cpp, one instance after another on the
 * caller's threads: what LAPACK cannot do becomes NaN, and it never sees one. */

typedef struct {
  T *data;
  int64_t rows, columns, down, along; /* strides */
} OF(Matrix);

static OF(Matrix) OF(matrix)(const xt_array *array, int64_t offset, int32_t axis) {
  int isMatrix = axis + 1 < array->rank;
  OF(Matrix)
  m = {(T *)array->data + offset, array->sizes[axis], isMatrix ? array->sizes[axis + 1] : 1,
       array->strides[axis], isMatrix ? array->strides[axis + 1] : 1};
  return m;
}
static OF(Matrix) OF(columns)(T *data, int64_t rows, int64_t columns) {
  OF(Matrix) m = {data, rows, columns, 1, rows};
  return m;
}
static T *OF(at)(const OF(Matrix) * m, int64_t i, int64_t j) {
  return m->data + i * m->down + j * m->along;
}
static void OF(copy)(OF(Matrix) from, OF(Matrix) to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j)
      *OF(at)(&to, i, j) = *OF(at)(&from, i, j);
}
static void OF(fill)(OF(Matrix) m, T value) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j)
      *OF(at)(&m, i, j) = value;
}
static int OF(isFinite)(OF(Matrix) m) {
  for (int64_t i = 0; i < m.rows; ++i)
    for (int64_t j = 0; j < m.columns; ++j)
      if (!__builtin_isfinite(*OF(at)(&m, i, j)))
        return 0;
  return 1;
}
/* to = (a + a^T) / 2 */
static void OF(symmetric)(OF(Matrix) a, OF(Matrix) to) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.rows; ++j)
      *OF(at)(&to, i, j) = (T)0.5 * *OF(at)(&a, i, j) + (T)0.5 * *OF(at)(&a, j, i);
}

void LAPACK(potrf_)(const char *, const int *, T *, const int *, int *, size_t);
void LAPACK(getrf_)(const int *, const int *, T *, const int *, int *, int *);
void LAPACK(geqrf_)(const int *, const int *, T *, const int *, T *, T *, const int *, int *);
void LAPACK(orgqr_)(const int *, const int *, const int *, T *, const int *, const T *, T *,
                    const int *, int *);
void LAPACK(syevd_)(const char *, const char *, const int *, T *, const int *, T *, T *,
                    const int *, int *, const int *, int *, size_t, size_t);
void LAPACK(gesdd_)(const char *, const int *, const int *, T *, const int *, T *, T *, const int *,
                    T *, const int *, T *, const int *, int *, int *, size_t);

/* a -> l */
static void OF(cholesky)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  a = OF(matrix)(job->arrays, at[0], job->batch),
  l = OF(matrix)(job->arrays + 1, at[1], job->batch);
  int n = (int)a.rows, lda = n > 0 ? n : 1, info = a.rows != a.columns;
  OF(Matrix) s = OF(columns)((T *)scratch, n, n);
  if (!info) {
    OF(symmetric)(a, s);
    info = !OF(isFinite)(s);
  }
  if (!info)
    LAPACK(potrf_)("L", &n, s.data, &lda, &info, 1);
  for (int64_t i = 0; i < n && !info; ++i)
    info = !__builtin_isfinite(*OF(at)(&s, i, i));
  for (int64_t i = 0; i < l.rows; ++i)
    for (int64_t j = 0; j < l.columns; ++j)
      *OF(at)(&l, i, j) = j > i ? 0 : info ? (T)__builtin_nan("") : *OF(at)(&s, i, j);
}

/* As runtime/CholeskyTangent.cpp: blocks of so many columns, and what they do to others by the
 * library. */
enum { OF(kBlock) = 64 };

/* The block of x on the diagonal, once the others have been taken from it. */
static void OF(tangentOfBlock)(int64_t n, int64_t begin, int64_t end, const T *l, T *x) {
  for (int64_t k = begin; k < end; ++k) {
    T *column = x + k * n;
    const T *lk = l + k * n;
    for (int64_t j = begin; j < k; ++j) {
      const T *lj = l + j * n, *xj = x + j * n;
      for (int64_t i = k; i < end; ++i)
        column[i] -= lj[k] * xj[i] + xj[k] * lj[i];
    }
    T inverse = 1 / lk[k], own = column[k] * inverse / 2;
    column[k] = own;
    for (int64_t i = begin; i < k; ++i)
      column[i] = 0;
    for (int64_t i = k + 1; i < end; ++i)
      column[i] = (column[i] - lk[i] * own) * inverse;
  }
}

static void OF(cotangentOfBlock)(int64_t n, int64_t begin, int64_t end, const T *l, T *x) {
  for (int64_t k = end - 1; k >= begin; --k) {
    T *column = x + k * n;
    const T *lk = l + k * n;
    for (int64_t j = k + 1; j < end; ++j)
      for (int64_t i = k + 1; i < end; ++i)
        column[i] -= lk[j] * x[j * n + i];
    T inverse = 1 / lk[k], own = column[k];
    for (int64_t i = k + 1; i < end; ++i) {
      T value = column[i] * inverse;
      own -= value * lk[i];
      column[i] = x[i * n + k] = value;
    }
    column[k] = own * inverse;
  }
}

enum { OF(kColumns) = 102, OF(kPlain) = 111, OF(kTurned) = 112, OF(kLower) = 122 };
void CBLAS(gemm)(int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda,
                 const T *b, int ldb, T beta, T *c, int ldc);
void CBLAS(trsm)(int order, int side, int uplo, int trans, int diag, int m, int n, T alpha,
                 const T *a, int lda, T *b, int ldb);

/* c -= op(a) op(b), of parts of columns n apart. */
static void OF(subtract)(int ta, int tb, int64_t n, int64_t rows, int64_t columns, int64_t depth,
                         const T *a, const T *b, T *c) {
  if (rows > 0 && columns > 0 && depth > 0)
    CBLAS(gemm)(OF(kColumns), ta ? OF(kTurned) : OF(kPlain), tb ? OF(kTurned) : OF(kPlain),
                (int)rows, (int)columns, (int)depth, -1, a, (int)n, b, (int)n, 1, c, (int)n);
}
/* x becomes what times op(l) is x. */
static void OF(divide)(int turned, int64_t n, int64_t rows, int64_t columns, const T *l, T *x) {
  if (rows > 0)
    CBLAS(trsm)(OF(kColumns), 142, OF(kLower), turned ? OF(kTurned) : OF(kPlain), 131, (int)rows,
                (int)columns, 1, l, (int)n, x, (int)n);
}

/* l, t -> x */
static void OF(choleskyTangent)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  factor = OF(matrix)(job->arrays, at[0], job->batch),
  given = OF(matrix)(job->arrays + 1, at[1], job->batch),
  to = OF(matrix)(job->arrays + 2, at[2], job->batch);
  const int64_t n = factor.rows, most = OF(kBlock);
  T *l = (T *)scratch, *x = (T *)(scratch + room(n * n * (int64_t)sizeof(T)));
  if (n != factor.columns) {
    OF(fill)(to, (T)__builtin_nan(""));
    return;
  }
  OF(copy)(factor, OF(columns)(l, n, n));
  if (job->options[0]) {
    OF(copy)(given, OF(columns)(x, n, n));
    for (int64_t i = 0; i < n * n; ++i)
      x[i] *= (T)0.5;
    for (int64_t j = (n - 1) / most * most; j >= 0; j -= most) {
      int64_t k = j + most < n ? j + most : n, own = j * n + j, below = j * n + k;
      OF(subtract)(0, 0, n, n - k, k - j, n - k, x + k * n + k, l + below, x + below);
      OF(divide)(0, n, n - k, k - j, l + own, x + below);
      OF(subtract)(1, 0, n, k - j, k - j, n - k, x + below, l + below, x + own);
      OF(cotangentOfBlock)(n, j, k, l, x);
      for (int64_t i = k; i < n; ++i)
        for (int64_t c = j; c < k; ++c)
          x[i * n + c] = x[c * n + i];
    }
  } else {
    OF(symmetric)(given, OF(columns)(x, n, n));
    for (int64_t j = 0; j < n; j += most) {
      int64_t k = j + most < n ? j + most : n, own = j * n + j, below = j * n + k;
      OF(subtract)(0, 1, n, n - j, k - j, j, x + j, l + j, x + own);
      OF(subtract)(0, 1, n, n - j, k - j, j, l + j, x + j, x + own);
      OF(tangentOfBlock)(n, j, k, l, x);
      OF(subtract)(0, 1, n, n - k, k - j, k - j, l + below, x + own, x + below);
      OF(divide)(1, n, n - k, k - j, l + own, x + below);
      for (int64_t c = j; c < k; ++c)
        for (int64_t i = 0; i < j; ++i)
          x[c * n + i] = 0;
    }
  }
  OF(copy)(OF(columns)(x, n, n), to);
}

/* a -> packed, order, inverse, parity */
static void OF(lu)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  a = OF(matrix)(job->arrays, at[0], job->batch),
  packed = OF(matrix)(job->arrays + 1, at[1], job->batch);
  int64_t *order = (int64_t *)job->arrays[2].data + at[2];
  int64_t *inverse = (int64_t *)job->arrays[3].data + at[3];
  const int64_t orderStep = job->arrays[2].strides[job->batch];
  const int64_t inverseStep = job->arrays[3].strides[job->batch];
  T *parity = (T *)job->arrays[4].data + at[4];
  int m = (int)a.rows, n = (int)a.columns, k = m < n ? m : n, lda = m > 0 ? m : 1, info;
  *parity = 1;
  for (int64_t i = 0; i < m; ++i)
    order[i * orderStep] = inverse[i * inverseStep] = i;
  if (!OF(isFinite)(a)) {
    OF(fill)(packed, (T)__builtin_nan(""));
    return;
  }
  OF(Matrix) here = OF(columns)((T *)scratch, m, n);
  int *pivots = (int *)(scratch + room((int64_t)m * n * (int64_t)sizeof(T)));
  OF(copy)(a, here);
  if (k > 0)
    LAPACK(getrf_)(&m, &n, here.data, &lda, pivots, &info);
  OF(copy)(here, packed);
  for (int64_t i = 0; i < k; ++i) {
    int64_t other = pivots[i] - 1, kept = order[i * orderStep];
    if (other == i)
      continue;
    order[i * orderStep] = order[other * orderStep];
    order[other * orderStep] = kept;
    *parity = -*parity;
  }
  for (int64_t i = 0; i < m; ++i)
    inverse[order[i * orderStep] * inverseStep] = i;
}

/* As runtime/LuTangent.cpp, without the triangular solves: the columns and the rows of a block are
 * done here, what they do to others by the library. */
static void OF(factorsTangent)(int64_t m, int64_t n, const T *lu, T *x) {
  const int64_t least = m < n ? m : n, most = OF(kBlock) / 2;
  for (int64_t j = 0; j < least; j += most) {
    int64_t k = j + most < least ? j + most : least;
    for (int64_t c = j; c < k; ++c) {
      const T *l = lu + c * m;
      T *d = x + c * m, inverse = l[c] == 0 ? 0 : 1 / l[c];
      for (int64_t i = c + 1; i < m; ++i)
        d[i] = (d[i] - l[i] * d[c]) * inverse;
      for (int64_t q = c + 1; q < n; ++q) {
        const T u = lu[q * m + c], e = x[q * m + c];
        for (int64_t i = c + 1, end = q < k ? m : k; i < end; ++i)
          x[q * m + i] -= d[i] * u + l[i] * e;
      }
    }
    OF(subtract)(0, 0, m, m - k, n - k, k - j, x + j * m + k, lu + k * m + j, x + k * m + k);
    OF(subtract)(0, 0, m, m - k, n - k, k - j, lu + j * m + k, x + k * m + j, x + k * m + k);
  }
}

static void OF(factorsCotangent)(int64_t m, int64_t n, const T *lu, T *x) {
  const int64_t least = m < n ? m : n, most = OF(kBlock) / 2;
  for (int64_t j = (least - 1) / most * most; j >= 0; j -= most) {
    int64_t k = j + most < least ? j + most : least;
    OF(subtract)(0, 1, m, m - k, k - j, n - k, x + k * m + k, lu + k * m + j, x + j * m + k);
    OF(subtract)(1, 0, m, k - j, n - k, m - k, lu + j * m + k, x + k * m + k, x + k * m + j);
    for (int64_t c = k - 1; c >= j; --c) {
      const T *l = lu + c * m;
      T *d = x + c * m, inverse = l[c] == 0 ? 0 : 1 / l[c];
      for (int64_t q = c + 1; q < n; ++q) {
        const T *z = x + q * m, u = lu[q * m + c];
        T sum = 0;
        for (int64_t i = c + 1, end = q < k ? m : k; i < end; ++i) {
          d[i] -= z[i] * u;
          sum += l[i] * z[i];
        }
        x[q * m + c] -= sum;
      }
      for (int64_t i = c + 1; i < m; ++i) {
        d[i] *= inverse;
        d[c] -= l[i] * d[i];
      }
    }
  }
}

/* packed, t -> x */
static void OF(luTangent)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  packed = OF(matrix)(job->arrays, at[0], job->batch),
  given = OF(matrix)(job->arrays + 1, at[1], job->batch),
  to = OF(matrix)(job->arrays + 2, at[2], job->batch);
  const int64_t m = packed.rows, n = packed.columns;
  T *lu = (T *)scratch, *x = (T *)(scratch + room(m * n * (int64_t)sizeof(T)));
  OF(copy)(packed, OF(columns)(lu, m, n));
  OF(copy)(given, OF(columns)(x, m, n));
  (job->options[0] ? OF(factorsCotangent) : OF(factorsTangent))(m, n, lu, x);
  OF(copy)(OF(columns)(x, m, n), to);
}

/* How many elements of work LAPACK asks for. */
static int OF(workOf)(int routine, int m, int n, int *integers) {
  T sizes[2] = {1, 1}, none = 0;
  int k = m < n ? m : n, ask = -1, info, inone = 0, lda = m > 0 ? m : 1;
  *integers = 1;
  if (k == 0)
    return 1;
  if (routine == kQr) {
    LAPACK(geqrf_)(&m, &n, &none, &lda, &none, &sizes[0], &ask, &info);
    LAPACK(orgqr_)(&m, &k, &k, &none, &lda, &none, &sizes[1], &ask, &info);
  } else if (routine == kEigh) {
    LAPACK(syevd_)("V", "L", &m, &none, &lda, &none, sizes, &ask, integers, &ask, &info, 1, 1);
  } else if (routine == kSvd || routine == kPinv) {
    LAPACK(gesdd_)("S", &m, &n, &none, &lda, &none, &none, &lda, &none, &k, sizes, &ask, &inone,
                   &info, 1);
    *integers = 8 * k;
  }
  return (int)(sizes[0] > sizes[1] ? sizes[0] : sizes[1]) + 1;
}

/* a -> q, r */
static void OF(qr)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  a = OF(matrix)(job->arrays, at[0], job->batch),
  q = OF(matrix)(job->arrays + 1, at[1], job->batch),
  r = OF(matrix)(job->arrays + 2, at[2], job->batch);
  int m = (int)a.rows, n = (int)a.columns, k = m < n ? m : n, work = job->work, info;
  if (k == 0)
    return;
  if (!OF(isFinite)(a)) {
    OF(fill)(q, (T)__builtin_nan(""));
    OF(fill)(r, (T)__builtin_nan(""));
    return;
  }
  OF(Matrix) here = OF(columns)((T *)scratch, m, n);
  T *tau = (T *)(scratch + room((int64_t)m * n * (int64_t)sizeof(T)));
  T *space = (T *)((char *)tau + room(k * (int64_t)sizeof(T)));
  OF(copy)(a, here);
  LAPACK(geqrf_)(&m, &n, here.data, &m, tau, space, &work, &info);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j)
      *OF(at)(&r, i, j) = j < i ? 0 : *OF(at)(&here, i, j);
  LAPACK(orgqr_)(&m, &k, &k, here.data, &m, tau, space, &work, &info);
  OF(copy)(OF(columns)(here.data, m, k), q);
}

/* Of a vector that a matrix determines but for its sign: see runtime/LaneFactors.h. */
static T OF(signOfColumn)(OF(Matrix) m, int64_t j) {
  T largest = 0, sign = 1;
  for (int64_t i = 0; i < m.rows; ++i) {
    T x = *OF(at)(&m, i, j), size = x < 0 ? -x : x;
    largest = size > largest ? size : largest;
  }
  for (int64_t i = m.rows; i-- > 0;) {
    T x = *OF(at)(&m, i, j);
    if ((x < 0 ? -x : x) > (T)0.4 * largest)
      sign = x < 0 ? -1 : 1;
  }
  return sign;
}

/* a -> w, v */
static void OF(eigh)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix)
  a = OF(matrix)(job->arrays, at[0], job->batch),
  w = OF(matrix)(job->arrays + 1, at[1], job->batch),
  v = OF(matrix)(job->arrays + 2, at[2], job->batch);
  int n = (int)a.rows, lda = n > 0 ? n : 1, work = job->work, integers = job->integers;
  int info = a.rows != a.columns || !OF(isFinite)(a);
  OF(Matrix) here = OF(columns)((T *)scratch, n, n);
  T *values = (T *)(scratch + room((int64_t)n * n * (int64_t)sizeof(T)));
  T *space = (T *)((char *)values + room(n * (int64_t)sizeof(T)));
  int *ispace = (int *)((char *)space + room(work * (int64_t)sizeof(T)));
  if (!info && n > 0) {
    OF(symmetric)(a, here);
    LAPACK(syevd_)("V", "L", &n, here.data, &lda, values, space, &work, ispace, &integers, &info, 1,
                   1);
  }
  if (info) {
    OF(fill)(w, (T)__builtin_nan(""));
    OF(fill)(v, (T)__builtin_nan(""));
    return;
  }
  for (int64_t j = 0; j < n; ++j)
    if (OF(signOfColumn)(here, j) < 0)
      for (int64_t i = 0; i < n; ++i)
        *OF(at)(&here, i, j) = -*OF(at)(&here, i, j);
  OF(copy)(OF(columns)(values, n, 1), w);
  OF(copy)(here, v);
}

/* a -> u, s, vh; or p, the pseudoinverse */
static void OF(svd)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix) a = OF(matrix)(job->arrays, at[0], job->batch);
  int m = (int)a.rows, n = (int)a.columns, k = m < n ? m : n, work = job->work;
  int info = !OF(isFinite)(a);
  OF(Matrix) here = OF(columns)((T *)scratch, m, n);
  T *s = (T *)(scratch + room((int64_t)m * n * (int64_t)sizeof(T)));
  T *u = (T *)((char *)s + room(k * (int64_t)sizeof(T)));
  T *vt = (T *)((char *)u + room((int64_t)m * k * (int64_t)sizeof(T)));
  T *space = (T *)((char *)vt + room((int64_t)k * n * (int64_t)sizeof(T)));
  int *ispace = (int *)((char *)space + room(work * (int64_t)sizeof(T)));
  if (!info && k > 0) {
    OF(copy)(a, here);
    LAPACK(gesdd_)("S", &m, &n, here.data, &m, s, u, &m, vt, &k, space, &work, ispace, &info, 1);
  }
  for (int64_t j = 0; j < k && !info; ++j)
    if (OF(signOfColumn)(OF(columns)(u, m, k), j) < 0) {
      for (int64_t i = 0; i < m; ++i)
        u[i + j * m] = -u[i + j * m];
      for (int64_t i = 0; i < n; ++i)
        vt[j + i * k] = -vt[j + i * k];
    }
  if (job->routine == kSvd) {
    OF(Matrix)
    to[] = {OF(matrix)(job->arrays + 1, at[1], job->batch),
            OF(matrix)(job->arrays + 2, at[2], job->batch),
            OF(matrix)(job->arrays + 3, at[3], job->batch)};
    OF(Matrix) from[] = {OF(columns)(u, m, k), OF(columns)(s, k, 1), OF(columns)(vt, k, n)};
    for (int i = 0; i < 3; ++i)
      if (info)
        OF(fill)(to[i], (T)__builtin_nan(""));
      else
        OF(copy)(from[i], to[i]);
    return;
  }
  OF(Matrix) p = OF(matrix)(job->arrays + 1, at[1], job->batch); /* n x m */
  if (info) {
    OF(fill)(p, (T)__builtin_nan(""));
    return;
  }
  T smallest = k ? EPSILON * (T)(m > n ? m : n) * s[0] : 0;
  for (int64_t r = 0; r < k; ++r) {
    T factor = s[r] > smallest ? 1 / s[r] : 0;
    for (int64_t j = 0; j < n; ++j)
      vt[r + j * k] *= factor;
  }
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j) {
      T sum = 0;
      for (int64_t r = 0; r < k; ++r)
        sum += vt[r + i * k] * u[j + r * m];
      *OF(at)(&p, i, j) = sum;
    }
}

/* x of A x = x; A is row-major, and its lower or upper triangle counts. */
static void OF(substitute)(const T *a, int64_t n, int upper, int unit, T *x) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t i = upper ? n - 1 - k : k;
    const T *row = a + i * n;
    T sum = x[i];
    for (int64_t j = upper ? i + 1 : 0, end = upper ? n : i; j < end; ++j)
      sum -= row[j] * x[j];
    x[i] = unit ? sum : sum / row[i];
  }
}

/* A x in place of x; the diagonal counts as zeros if `strict`. */
static void OF(multiply)(const T *a, int64_t n, int upper, int strict, T *x) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t i = upper ? k : n - 1 - k;
    const T *row = a + i * n;
    T sum = 0;
    for (int64_t j = upper ? i + strict : 0, end = upper ? n : i + !strict; j < end; ++j)
      sum += row[j] * x[j];
    x[i] = sum;
  }
}

/* a, b -> x: the lower triangle of their product over the axes after the rows. */
static void OF(triangleOfProduct)(const Job *job, const int64_t *at, char *scratch) {
  const xt_array *a = job->arrays, *b = a + 1;
  OF(Matrix) x = OF(matrix)(a + 2, at[2], job->batch);
  const int64_t n = x.rows, strict = job->options[0] != 0;
  T *sum = (T *)scratch, *column = (T *)(scratch + room(n * n * (int64_t)sizeof(T)));
  if (n != x.columns) {
    OF(fill)(x, (T)__builtin_nan(""));
    return;
  }
  int64_t count = 1;
  for (int32_t d = job->batch + 1; d < a->rank; ++d)
    count *= a->sizes[d];
  for (int64_t i = 0; i < n * n; ++i)
    sum[i] = 0;
  for (int64_t k = 0; k < count; ++k) {
    const T *left = (const T *)a->data + at[0], *right = (const T *)b->data + at[1];
    for (int64_t d = a->rank - 1, rest = k; d > job->batch; --d) {
      left += rest % a->sizes[d] * a->strides[d];
      right += rest % a->sizes[d] * b->strides[d];
      rest /= a->sizes[d];
    }
    for (int64_t j = 0; j < n; ++j)
      column[j] = right[j * b->strides[job->batch]];
    for (int64_t i = 0; i < n; ++i) {
      const T factor = left[i * a->strides[job->batch]];
      for (int64_t j = 0; j < i + !strict; ++j)
        sum[i * n + j] += factor * column[j];
    }
  }
  OF(Matrix) here = {sum, n, n, n, 1};
  OF(copy)(here, x);
}

/* a, b -> x, also of the product; or packed, order, b -> x. The axes of b after its row are its
 * columns. */
static void OF(solve)(const Job *job, const int64_t *at, char *scratch) {
  const int isLu = job->routine == kLuSolve, turned = isLu && job->options[0];
  const xt_array *b = &job->arrays[isLu ? 2 : 1], *x = b + 1;
  OF(Matrix) a = OF(matrix)(job->arrays, at[0], job->batch);
  const int64_t n = a.rows, isSquare = n == a.columns;
  const int64_t *rows = isLu ? (const int64_t *)job->arrays[1].data + at[1] : 0;
  const int64_t rowStep = isLu ? job->arrays[1].strides[job->batch] : 0;
  OF(Matrix) here = {(T *)scratch, n, n, turned ? 1 : n, turned ? n : 1};
  T *column = (T *)(scratch + room(n * n * (int64_t)sizeof(T)));
  if (isSquare)
    OF(copy)(a, here);
  int64_t columns = 1;
  for (int32_t d = job->batch + 1; d < x->rank; ++d)
    columns *= x->sizes[d];
  for (int64_t c = 0; c < columns; ++c) {
    const T *from = (const T *)b->data + at[isLu ? 2 : 1];
    T *to = (T *)x->data + at[isLu ? 3 : 2];
    for (int64_t d = x->rank - 1, rest = c; d > job->batch; --d) {
      from += rest % x->sizes[d] * b->strides[d];
      to += rest % x->sizes[d] * x->strides[d];
      rest /= x->sizes[d];
    }
    for (int64_t i = 0; isSquare && i < n; ++i)
      column[i] =
          from[(rows && !turned ? rowOf(rows[i * rowStep], n) : i) * b->strides[job->batch]];
    if (isSquare && job->routine == kTriangularProduct) {
      OF(multiply)(here.data, n, job->options[0] != 0, job->options[1] != 0, column);
    } else if (isSquare && !isLu) {
      OF(substitute)(here.data, n, job->options[0] != 0, job->options[1] != 0, column);
    } else if (isSquare) { /* L is the unit triangle; transposed, U comes first, as a lower one */
      OF(substitute)(here.data, n, 0, !turned, column);
      OF(substitute)(here.data, n, 1, turned, column);
    }
    for (int64_t i = 0; i < x->sizes[job->batch]; ++i)
      to[i * x->strides[job->batch]] =
          !isSquare ? (T)__builtin_nan("")
                    : column[rows && turned ? rowOf(rows[i * rowStep], n) : i];
  }
}

/* packed, order -> x: column i of the inverse of L U is column order[i] of x. */
static void OF(inverse)(const Job *job, const int64_t *at, char *scratch) {
  OF(Matrix) a = OF(matrix)(job->arrays, at[0], job->batch);
  OF(Matrix) x = OF(matrix)(job->arrays + 2, at[2], job->batch);
  const int64_t *order = (const int64_t *)job->arrays[1].data + at[1];
  const int64_t n = a.rows, step = job->arrays[1].strides[job->batch];
  if (n != a.columns) {
    OF(fill)(x, (T)__builtin_nan(""));
    return;
  }
  OF(Matrix) here = {(T *)scratch, n, n, n, 1};
  T *column = (T *)(scratch + room(n * n * (int64_t)sizeof(T)));
  OF(copy)(a, here);
  for (int64_t c = 0; c < n; ++c) {
    const int64_t to = rowOf(order[c * step], n);
    for (int64_t i = 0; i < n; ++i)
      column[i] = i == c;
    OF(substitute)(here.data, n, 0, 1, column);
    OF(substitute)(here.data, n, 1, 0, column);
    for (int64_t i = 0; i < n; ++i)
      *(job->options[0] ? OF(at)(&x, to, i) : OF(at)(&x, i, to)) = column[i];
  }
}

/* An interpreter of PTX. Threads of a workgroup run one after another, from one barrier to the
 * next. */
#include "ptx_code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers that the other threads of a subgroup see: the factors of a product of matrices. */
enum { OFFERS = 6, LANES = 32 };

typedef struct {
  const ptx_kernel *kernel;
  const uint64_t *parameters;
  unsigned size[4][3]; /* thread, group, threads, groups */
  char *shared;
  uint64_t *registers;         /* of the thread that runs */
  uint64_t (*offered)[OFFERS]; /* per thread, what it exchanges */
  int (*valid)(uint64_t, size_t);
} machine;

static uint64_t low(uint64_t v, int bytes) {
  return bytes == 8 ? v : v & (((uint64_t)1 << 8 * bytes) - 1);
}
static int64_t extended(uint64_t v, int bytes) {
  int shift = 64 - 8 * bytes;
  return (int64_t)(v << shift) >> shift;
}
static float as_f32(uint64_t v) {
  uint32_t bits = (uint32_t)v;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static double as_f64(uint64_t v) {
  double f;
  memcpy(&f, &v, 8);
  return f;
}
static _Float16 as_f16(uint64_t v) {
  uint16_t bits = (uint16_t)v;
  _Float16 f;
  memcpy(&f, &bits, 2);
  return f;
}
static uint64_t of_f32(float f) {
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return bits;
}
static uint64_t of_f64(double f) {
  uint64_t bits;
  memcpy(&bits, &f, 8);
  return bits;
}
static uint64_t of_f16(_Float16 f) {
  uint16_t bits;
  memcpy(&bits, &f, 2);
  return bits;
}
/* Exactly, whatever the type. */
static double real(uint64_t v, int bytes) {
  return bytes == 2 ? (double)as_f16(v) : bytes == 4 ? as_f32(v) : as_f64(v);
}
static uint64_t rounded(double v, int bytes) {
  return bytes == 2 ? of_f16((_Float16)v) : bytes == 4 ? of_f32((float)v) : of_f64(v);
}

static uint64_t get(const machine *m, const arg *a) {
  switch (a->where) {
  case REGISTER:
    return m->registers[a->value];
  case SPECIAL:
    return m->size[a->value / 3][a->value % 3];
  case SHARED:
    return (uint64_t)(uintptr_t)m->shared + a->value;
  case PARAMETER:
    return m->parameters[a->value];
  default:
    return a->value;
  }
}
static void set(machine *m, const arg *a, uint64_t v) {
  if (a->where == REGISTER)
    m->registers[a->value] = v;
}

/* Sums and products are rounded once in their type. */
#define ARITHMETIC(F, as, of)                                                                      \
  {                                                                                                \
    F x = as(a), y = as(b), r;                                                                     \
    switch (in->op) {                                                                              \
    case ADD:                                                                                      \
      r = x + y;                                                                                   \
      break;                                                                                       \
    case SUB:                                                                                      \
      r = x - y;                                                                                   \
      break;                                                                                       \
    case MUL:                                                                                      \
      r = x * y;                                                                                   \
      break;                                                                                       \
    default:                                                                                       \
      r = x / y;                                                                                   \
      break;                                                                                       \
    }                                                                                              \
    return of(r);                                                                                  \
  }

static uint64_t float_binary(const instruction *in, uint64_t a, uint64_t b) {
  if (in->op == MAX || in->op == MIN) {
    double x = real(a, in->type.bytes), y = real(b, in->type.bytes);
    if (isnan(x) || isnan(y))
      return rounded(isnan(x) && isnan(y)   ? NAN
                     : in->flags & NAN_WINS ? NAN
                     : isnan(x)             ? y
                                            : x,
                     in->type.bytes);
    int first = x < y || (x == y && signbit(x) > signbit(y));
    return (in->op == MIN) == first ? a : b;
  }
  if (in->type.bytes == 2)
    ARITHMETIC(_Float16, as_f16, of_f16)
  if (in->type.bytes == 4)
    ARITHMETIC(float, as_f32, of_f32)
  ARITHMETIC(double, as_f64, of_f64)
}

static uint64_t int_binary(const instruction *in, uint64_t a, uint64_t b) {
  int n = in->type.bytes, is_signed = in->type.kind == KIND_S;
  int64_t x = extended(a, n), y = extended(b, n);
  uint64_t u = low(a, n), v = low(b, n);
  switch (in->op) {
  case ADD:
    return u + v;
  case SUB:
    return u - v;
  case MUL:
  case MAD:
    if (in->flags & HIGH)
      return is_signed ? (uint64_t)(((__int128)x * y) >> 8 * n)
                       : (uint64_t)(((unsigned __int128)u * v) >> 8 * n);
    return is_signed ? (uint64_t)x * (uint64_t)y : u * v;
  case DIV:
    return v == 0 ? ~(uint64_t)0 : !is_signed ? u / v : y == -1 ? -(uint64_t)x : (uint64_t)(x / y);
  case REM:
    return v == 0 ? u : !is_signed ? u % v : y == -1 ? 0 : (uint64_t)(x % y);
  case MAX:
    return is_signed ? (uint64_t)(x > y ? x : y) : u > v ? u : v;
  case MIN:
    return is_signed ? (uint64_t)(x < y ? x : y) : u < v ? u : v;
  case AND:
    return u & v;
  case OR:
    return u | v;
  case XOR:
    return u ^ v;
  case SHL:
    return (uint32_t)b >= (unsigned)(8 * n) ? 0 : u << (uint32_t)b;
  default: /* SHR */
    if ((uint32_t)b >= (unsigned)(8 * n))
      return is_signed && x < 0 ? ~(uint64_t)0 : 0;
    return is_signed ? (uint64_t)(x >> (uint32_t)b) : u >> (uint32_t)b;
  }
}

static int compared(const instruction *in, uint64_t a, uint64_t b) {
  int n = in->type.bytes, less, equal, unordered = 0;
  if (in->type.kind == KIND_F) {
    double x = real(a, n), y = real(b, n);
    less = x < y, equal = x == y, unordered = isnan(x) || isnan(y);
  } else if (in->type.kind == KIND_S) {
    less = extended(a, n) < extended(b, n), equal = extended(a, n) == extended(b, n);
  } else {
    less = low(a, n) < low(b, n), equal = low(a, n) == low(b, n);
  }
  switch (in->compare) {
  case EQ:
    return equal;
  case NE:
    return !equal && !unordered;
  case LT:
  case LO:
    return less;
  case LE:
  case LS:
    return less || equal;
  case GT:
  case HI:
    return !less && !equal && !unordered;
  case GE:
  case HS:
    return !less && !unordered;
  case EQU:
    return equal || unordered;
  case NEU:
    return !equal;
  case LTU:
    return less || unordered;
  case LEU:
    return less || equal || unordered;
  case GTU:
    return !less && !equal;
  case GEU:
    return !less;
  case NUM:
    return !unordered;
  default:
    return unordered;
  }
}

static uint64_t converted(const instruction *in, uint64_t v) {
  type to = in->type, from = in->from;
  if (from.kind != KIND_F) {
    int64_t x = extended(v, from.bytes);
    uint64_t u = low(v, from.bytes);
    if (to.kind != KIND_F)
      return low(from.kind == KIND_S ? (uint64_t)x : u, to.bytes);
    int is_signed = from.kind == KIND_S;
    if (to.bytes == 8)
      return of_f64(is_signed ? (double)x : (double)u);
    if (to.bytes == 4)
      return of_f32(is_signed ? (float)x : (float)u);
    return of_f16(is_signed ? (_Float16)x : (_Float16)u);
  }
  double x = real(v, from.bytes);
  switch (in->rounding) {
  case 'm':
    x = floor(x);
    break;
  case 'p':
    x = ceil(x);
    break;
  case 'n':
    x = rint(x);
    break;
  case 'z':
    x = trunc(x);
    break;
  }
  if (to.kind == KIND_F)
    return rounded(x, to.bytes);
  if (isnan(x))
    return 0;
  double top = ldexp(1, 8 * to.bytes - (to.kind == KIND_S));
  double bottom = to.kind == KIND_S ? -top : 0;
  if (to.kind == KIND_S)
    return low(x >= top      ? (uint64_t)1 << (8 * to.bytes - 1) ^ ~(uint64_t)0
               : x <= bottom ? (uint64_t)1 << (8 * to.bytes - 1)
                             : (uint64_t)(int64_t)x,
               to.bytes);
  return low(x >= top ? ~(uint64_t)0 : x <= 0 ? 0 : (uint64_t)x, to.bytes);
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t selector) {
  uint64_t all = low(a, 4) | low(b, 4) << 32, result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned pick = selector >> 4 * i & 15, byte = all >> 8 * (pick & 7) & 255;
    if (pick & 8)
      byte = byte & 128 ? 255 : 0;
    result |= (uint64_t)byte << 8 * i;
  }
  return result;
}

/* Null, or what is wrong with the address. */
static const char *place(const machine *m, const instruction *in, const arg *a, char **at) {
  uint64_t address = get(m, a) + (uint64_t)a->offset;
  size_t bytes = (size_t)in->type.bytes * (size_t)(in->vector ? in->vector : 1);
  *at = (char *)(uintptr_t)address;
  if (address % bytes)
    return "a misaligned access";
  if (in->flags & TO_SHARED)
    return *at >= m->shared && *at + bytes <= m->shared + m->kernel->shared_bytes
               ? NULL
               : "an access outside of the workgroup's memory";
  return m->valid(address, bytes) ? NULL : "an access outside of all arrays";
}

/* LD, ST or ATOM: what is wrong, or null. */
static const char *access_memory(machine *m, const instruction *in) {
  const arg *a = in->arg;
  int n = in->type.bytes, count = in->vector ? in->vector : 1;
  char *at;
  const char *wrong = place(m, in, a + (in->op == LD ? count : in->op == ST ? 0 : 1), &at);
  if (wrong)
    return wrong;
  if (in->op == ATOM) {
    uint64_t y = get(m, a + 2), z = in->args > 3 ? get(m, a + 3) : 0, old = 0;
    memcpy(&old, at, (size_t)n);
    instruction update = *in;
    update.op = in->update;
    uint64_t next = in->update == OPS         ? (old == low(y, n) ? z : old)
                    : in->type.kind == KIND_F ? float_binary(&update, old, y)
                                              : int_binary(&update, old, y);
    memcpy(at, &next, (size_t)n);
    set(m, a, old);
    return NULL;
  }
  for (int i = 0; i < count; ++i, at += n) {
    uint64_t v = in->op == ST ? get(m, a + 1 + i) : 0;
    if (in->op == ST) {
      memcpy(at, &v, (size_t)n);
      continue;
    }
    memcpy(&v, at, (size_t)n);
    set(m, a + i, in->type.kind == KIND_S ? (uint64_t)extended(v, n) : v);
  }
  return NULL;
}

/* What an instruction makes of its operands, before it is cut to the width of its result. */
static uint64_t result_of(machine *m, const instruction *in) {
  const arg *a = in->arg;
  uint64_t x = in->args > 1 ? get(m, a + 1) : 0, y = in->args > 2 ? get(m, a + 2) : 0;
  uint64_t z = in->args > 3 ? get(m, a + 3) : 0, r = 0;
  int n = in->type.bytes, is_float = in->type.kind == KIND_F;
  uint64_t sign = (uint64_t)1 << (8 * n - 1);
  switch (in->op) {
  case MOV: /* of a register, or of parts */
    for (int i = 0; i < in->vector; ++i)
      r |= low(get(m, a + 1 + i), n / in->vector) << 8 * (n / in->vector) * i;
    return in->vector ? r : x;
  case SELP:
    r = z & 1 ? x : y;
    break;
  case SETP:
    r = (uint64_t)compared(in, x, y);
    r = in->flags & COMBINE_AND   ? r & z
        : in->flags & COMBINE_OR  ? r | z
        : in->flags & COMBINE_XOR ? r ^ z
                                  : r;
    break;
  case CVT:
    if (in->flags & PAIR) {
      instruction half = *in;
      half.type.bytes = 2;
      r = converted(&half, x) << 16 | low(converted(&half, y), 2);
      break;
    }
    r = converted(in, x);
    break;
  case NEG:
    r = is_float ? x ^ sign : -x;
    break;
  case ABS:
    r = is_float ? x & ~sign : extended(x, n) < 0 ? -x : x;
    break;
  case NOT:
    r = ~x;
    break;
  case COPYSIGN:
    r = (y & ~sign) | (x & sign);
    break;
  case SQRT:
    r = n == 4 ? of_f32(sqrtf(as_f32(x))) : of_f64(sqrt(as_f64(x)));
    break;
  case RCP:
    r = n == 4 ? of_f32(1 / as_f32(x)) : of_f64(1 / as_f64(x));
    break;
  case FMA:
    r = n == 4 ? of_f32(fmaf(as_f32(x), as_f32(y), as_f32(z)))
               : of_f64(fma(as_f64(x), as_f64(y), as_f64(z)));
    break;
  case POPC:
    r = (uint64_t)__builtin_popcountll(low(x, n));
    break;
  case CLZ:
    r = low(x, n) ? (uint64_t)(__builtin_clzll(low(x, n)) - (64 - 8 * n)) : (uint64_t)(8 * n);
    break;
  case PRMT:
    r = permuted(x, y, z);
    break;
  case SHF: {
    uint64_t both = low(y, 4) << 32 | low(x, 4);
    unsigned by = in->flags & WRAP ? z & 31 : (uint32_t)z > 32 ? 32 : (uint32_t)z;
    r = in->flags & LEFT ? (by == 32 ? low(x, 4) : both << by >> 32) : both >> by;
    break;
  }
  case BFE: {
    unsigned from = y & 255, length = z & 255, width = 8 * (unsigned)n;
    uint64_t v = in->type.kind == KIND_S ? (uint64_t)extended(x, n) : low(x, n);
    if (from + length > width)
      length = from < width ? width - from : 0;
    v = length == 0 ? 0 : length == 64 ? v : v >> from & (((uint64_t)1 << length) - 1);
    if (in->type.kind == KIND_S && length && length < 64 && v >> (length - 1) & 1)
      v |= ~(uint64_t)0 << length;
    r = v;
    break;
  }
  default: /* of two, or three */
    if (in->type.kind == KIND_PRED) {
      r = in->op == AND ? x & y : in->op == OR ? x | y : x ^ y;
      break;
    }
    r = is_float ? float_binary(in, x, y) : int_binary(in, x, y);
    if (in->op == MAD)
      r += z;
    break;
  }
  return r;
}

/* What is wrong, or null. pc moves on; 1 in *stopped at a barrier or an exchange, 2 at the end. */
static const char *step(machine *m, const instruction *in, long t, long *pc, int *stopped) {
  const arg *a = in->arg;
  int n = in->type.bytes;
  ++*pc;
  if (in->guard >= 0 && (m->registers[in->guard] & 1) != (uint64_t)in->guard_is)
    return NULL;
  switch (in->op) {
  case BRA:
    *pc = in->target;
    return NULL;
  case RET:
    *stopped = 2;
    return NULL;
  case BAR:
    *stopped = 1;
    return NULL;
  case SHFL:
    m->offered[t][0] = get(m, a + 1);
    *stopped = 1;
    return NULL;
  case LDMATRIX: {
    char *at;
    const char *wrong = place(m, in, a + 4, &at);
    if (!wrong)
      memcpy(m->offered[t], at, 16);
    *stopped = 1;
    return wrong;
  }
  case MMA:
    for (int i = 0; i < OFFERS; ++i)
      m->offered[t][i] = get(m, a + 4 + i);
    *stopped = 1;
    return NULL;
  case LD:
    if (in->flags & TO_PARAM)
      return set(m, a, low(get(m, a + 1), n)), NULL;
    return access_memory(m, in);
  case ST:
  case ATOM:
    return access_memory(m, in);
  default:
    break;
  }
  if (in->op == MOV && in->vector < 0) {
    int parts = -in->vector, each = n / parts;
    for (int i = 0; i < parts; ++i)
      set(m, a + i, low(get(m, a + parts) >> 8 * each * i, each));
    return NULL;
  }
  uint64_t r = result_of(m, in);
  /* What is narrower than its register is extended. */
  if (in->op == CVT && in->type.kind == KIND_S) {
    set(m, a, (uint64_t)extended(r, n));
    return NULL;
  }
  /* A product that is wide keeps all of its bits; a predicate is one. */
  int width = in->op == SETP || in->type.kind == KIND_PRED ? 1 : in->flags & WIDE ? 2 * n : n;
  set(m, a, in->type.kind == KIND_PRED || in->op == SETP ? r & 1 : low(r, width));
  return NULL;
}

/* The i-th element of 16 bits in registers that threads of a subgroup offered. */
static double half_of(const instruction *in, const uint64_t *words, int i) {
  uint64_t bits = words[i / 2] >> 16 * (i % 2) & 0xffff;
  return in->flags & BRAIN ? as_f32(bits << 16) : (double)as_f16(bits);
}

/* What a thread gets of an exchange, as the PTX ISA lays matrices out over the lanes of a subgroup.
 * `of`: what its subgroup offered. */
static void receive(machine *m, const instruction *in, long t, const uint64_t (*of)[OFFERS]) {
  const arg *a = in->arg;
  int lane = (int)(t % LANES), row = lane / 4, column = 2 * (lane % 4);
  if (in->op == SHFL) {
    set(m, a, low(of[(uint64_t)lane ^ get(m, a + 2)][0], 4));
  } else if (in->op == LDMATRIX) {
    /* Lanes 8 * q to 8 * q + 7 brought the rows of matrix q. */
    for (int q = 0; q < 4; ++q) {
      uint64_t word = 0;
      for (int i = 0; i < 2; ++i) {
        int y = in->flags & TRANSPOSED ? column + i : row;
        int x = in->flags & TRANSPOSED ? row : column + i;
        word |= (of[8 * q + y][x / 4] >> 16 * (x % 4) & 0xffff) << 16 * i;
      }
      set(m, a + q, word);
    }
  } else { /* MMA */
    /* Of the left factor, lane 4 * r + c holds rows r and r + 8 at depths 2 * c, 2 * c + 8 and the
     * next of each; of the right one columns 4 * r + c in the same way. */
    uint64_t sums[4];
    for (int e = 0; e < 4; ++e) {
      int y = row + e / 2 * 8, x = column + e % 2;
      double sum = as_f32(get(m, a + 10 + e));
      for (int k = 0; k < 16; ++k) {
        int there = k % 8 / 2, upper = k / 8;
        double left = half_of(in, of[4 * (y % 8) + there], 2 * (2 * upper + y / 8) + k % 2);
        sum += left * half_of(in, of[4 * x + there] + 4, 2 * upper + k % 2);
      }
      sums[e] = of_f32((float)sum);
    }
    for (int e = 0; e < 4; ++e)
      set(m, a + e, sums[e]);
  }
}

/* One workgroup. `taken`: what its threads exchanged at the last meeting. */
static int run_group(machine *m, uint64_t *registers, uint64_t (*taken)[OFFERS], long *at,
                     int reversed, char *log, size_t log_bytes) {
  const ptx_kernel *k = m->kernel;
  long threads = (long)k->threads[0] * k->threads[1] * k->threads[2], left = threads;
  memset(at, 0, (size_t)threads * sizeof *at);
  memset(m->shared, 0xcd, k->shared_bytes);
  memset(registers, 0xcd, (size_t)(threads * k->register_count) * sizeof *registers);
  while (left > 0) {
    long meeting = -1;
    memcpy(taken, m->offered, (size_t)threads * sizeof *taken);
    for (long turn = 0; turn < threads; ++turn) {
      long t = reversed ? threads - 1 - turn : turn;
      if (at[t] < 0)
        continue;
      m->registers = registers + t * k->register_count;
      m->size[0][0] = (unsigned)(t % k->threads[0]);
      m->size[0][1] = (unsigned)(t / k->threads[0] % k->threads[1]);
      m->size[0][2] = (unsigned)(t / k->threads[0] / k->threads[1]);
      int stopped = 0;
      op last = at[t] ? k->code[at[t] - 1].op : OPS;
      if (last == SHFL || last == LDMATRIX || last == MMA)
        receive(m, &k->code[at[t] - 1], t, (const uint64_t (*)[OFFERS])taken + t / LANES * LANES);
      while (!stopped) {
        long here = at[t];
        const char *wrong = step(m, &k->code[here], t, &at[t], &stopped);
        if (wrong) {
          snprintf(log, log_bytes, "%s: %s by thread %ld, instruction %ld (%s)", k->name, wrong, t,
                   here, ptx_op_names[k->code[here].op]);
          return 1;
        }
      }
      if (stopped == 2) {
        at[t] = -1;
        --left;
      } else if (meeting >= 0 && at[t] != meeting) {
        snprintf(log, log_bytes, "%s: threads wait at different barriers", k->name);
        return 1;
      } else {
        meeting = at[t];
      }
    }
  }
  return 0;
}

int ptx_run(const ptx_kernel *k, const unsigned groups[3], const uint64_t *parameters,
            int (*valid)(uint64_t address, size_t bytes), int reversed, char *log,
            size_t log_bytes) {
  machine m = {.kernel = k, .parameters = parameters, .valid = valid};
  size_t threads = (size_t)k->threads[0] * k->threads[1] * k->threads[2];
  uint64_t *registers = malloc(threads * (size_t)(k->register_count + 1) * sizeof *registers);
  uint64_t (*exchanged)[OFFERS] = calloc(2 * threads, sizeof *exchanged);
  long *at = malloc(threads * sizeof *at);
  m.offered = exchanged + threads;
  m.shared = aligned_alloc(256, (k->shared_bytes + 256) / 256 * 256);
  memcpy(m.size[2], k->threads, sizeof k->threads);
  memcpy(m.size[3], groups, sizeof m.size[3]);
  int failed = 0;
  long count = (long)groups[0] * groups[1] * groups[2];
  for (long g = 0; g < count && !failed; ++g) {
    m.size[1][0] = (unsigned)(g % groups[0]);
    m.size[1][1] = (unsigned)(g / groups[0] % groups[1]);
    m.size[1][2] = (unsigned)(g / groups[0] / groups[1]);
    failed = run_group(&m, registers, exchanged, at, reversed, log, log_bytes);
  }
  free(registers);
  free(exchanged);
  free(at);
  free(m.shared);
  return failed;
}

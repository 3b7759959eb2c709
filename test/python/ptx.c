/* A reader and an interpreter of PTX. Instructions that it does not know are errors when a kernel is
 * read. Threads of a workgroup run one after another, from one barrier to the next. */
#include "ptx.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 10, MAX_NAMES = 64 };

typedef enum { KIND_B, KIND_U, KIND_S, KIND_F, KIND_PRED } kind;
typedef struct {
  kind kind;
  int bytes;
} type;

typedef enum {
  ABS, ADD, AND, BAR, BFE, BRA, CLZ, COPYSIGN, CVT, DIV, FMA, LD, MAD, MAX, MIN, MOV, MUL, NEG, NOT,
  OR, POPC, PRMT, RCP, REM, RET, SELP, SETP, SHF, SHL, SHR, SQRT, ST, SUB, XOR, OPS
} op;
static const char *const OP_NAMES[OPS] = {
    "abs", "add",  "and", "bar", "bfe", "bra", "clz", "copysign", "cvt", "div",  "fma",  "ld",
    "mad", "max",  "min", "mov", "mul", "neg", "not", "or",       "popc", "prmt", "rcp",  "rem",
    "ret", "selp", "setp", "shf", "shl", "shr", "sqrt", "st",     "sub", "xor"};

typedef enum { NONE, REGISTER, NUMBER, SPECIAL, SHARED, PARAMETER, NOWHERE } where;
typedef struct {
  where where;
  uint64_t value; /* register, number, special or parameter; shared: offset */
  int64_t offset; /* of an address */
} arg;

/* What the parts of an opcode say beside its types. */
enum {
  WIDE = 1, HIGH = 2, LEFT = 4, WRAP = 8, NAN_WINS = 16, TO_SHARED = 32, TO_GLOBAL = 64,
  TO_PARAM = 128, COMBINE_AND = 256, COMBINE_OR = 512, COMBINE_XOR = 1024
};
typedef enum { EQ, NE, LT, LE, GT, GE, EQU, NEU, LTU, LEU, GTU, GEU, NUM, ISNAN, LO, LS, HI, HS, COMPARISONS } comparison;
static const char *const COMPARISON_NAMES[COMPARISONS] = {
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    "lo", "ls", "hi", "hs"};

typedef struct {
  op op;
  type type, from; /* from: of what is converted */
  int flags, compare, vector, guard, guard_is, rounding; /* guard: register, or -1 */
  int args;
  arg arg[MAX_ARGS];
  long target;
} instruction;

typedef struct {
  char name[80];
  long value, bytes;
} named;

struct ptx_kernel {
  char name[80];
  unsigned threads[3];
  int parameter_bytes[1024], parameters;
  instruction *code;
  long count, capacity;
  named *registers;
  long register_count, register_capacity;
  named labels[4096], shared[MAX_NAMES];
  long label_count, shared_count;
  size_t shared_bytes;
  char (*targets)[80];
};

/*===- reading ------------------------------------------------------------===*/

static char *trim(char *s) {
  while (isspace((unsigned char)*s))
    ++s;
  for (char *end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
    *--end = 0;
  return s;
}

static long find(const named *all, long count, const char *name) {
  for (long i = 0; i < count; ++i)
    if (!strcmp(all[i].name, name))
      return i;
  return -1;
}

static long register_of(ptx_kernel *k, const char *name) {
  long i = find(k->registers, k->register_count, name);
  if (i >= 0)
    return i;
  if (k->register_count == k->register_capacity) {
    k->register_capacity = k->register_capacity ? 2 * k->register_capacity : 64;
    k->registers = realloc(k->registers, (size_t)k->register_capacity * sizeof *k->registers);
  }
  snprintf(k->registers[k->register_count].name, sizeof k->registers->name, "%s", name);
  return k->register_count++;
}

static int read_type(const char *s, type *t) {
  if (!strcmp(s, "pred"))
    return *t = (type){KIND_PRED, 1}, 1;
  const char *kinds = "busf";
  const char *at = *s ? strchr(kinds, *s) : NULL;
  int bits = at ? atoi(s + 1) : 0;
  if (!at || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return 0;
  *t = (type){(kind)(at - kinds), bits / 8};
  return 1;
}

static const char *const SPECIALS[] = {"%tid.x",   "%tid.y",   "%tid.z",   "%ctaid.x",
                                       "%ctaid.y", "%ctaid.z", "%ntid.x",  "%ntid.y",
                                       "%ntid.z",  "%nctaid.x", "%nctaid.y", "%nctaid.z"};

static int read_arg(ptx_kernel *k, char *s, arg *a) {
  s = trim(s);
  *a = (arg){NONE, 0, 0};
  if (*s == '[') {
    s[strlen(s) - 1] = 0;
    char *plus = strchr(s, '+');
    if (plus) {
      *plus = 0;
      a->offset = strtoll(plus + 1, NULL, 0);
    }
    int64_t offset = a->offset;
    if (!read_arg(k, s + 1, a))
      return 0;
    a->offset = offset;
    return 1;
  }
  if (!strcmp(s, "_"))
    return a->where = NOWHERE, 1;
  for (unsigned i = 0; i < sizeof SPECIALS / sizeof *SPECIALS; ++i)
    if (!strcmp(s, SPECIALS[i]))
      return *a = (arg){SPECIAL, i, 0}, 1;
  if (*s == '%' || !strcmp(s, "tmp"))
    return *a = (arg){REGISTER, (uint64_t)register_of(k, s), 0}, 1;
  if (s[0] == '0' && (s[1] == 'f' || s[1] == 'd'))
    return *a = (arg){NUMBER, strtoull(s + 2, NULL, 16), 0}, 1;
  if (isdigit((unsigned char)*s))
    return *a = (arg){NUMBER, strtoull(s, NULL, 0), 0}, 1;
  if (*s == '-')
    return *a = (arg){NUMBER, (uint64_t)strtoll(s, NULL, 0), 0}, 1;
  long i = find(k->shared, k->shared_count, s);
  if (i >= 0)
    return *a = (arg){SHARED, (uint64_t)k->shared[i].value, 0}, 1;
  const char *last = strstr(s, "_param_");
  if (last)
    return *a = (arg){PARAMETER, strtoull(last + 7, NULL, 10), 0}, 1;
  return 0;
}

static int read_opcode(instruction *in, char *s) {
  int types = 0;
  char *rest = NULL, *part = strtok_r(s, ".", &rest);
  in->op = OPS;
  for (int i = 0; i < OPS; ++i)
    if (!strcmp(part, OP_NAMES[i]))
      in->op = (op)i;
  if (in->op == OPS)
    return 0;
  while ((part = strtok_r(NULL, ".", &rest))) {
    type t;
    int compare = COMPARISONS;
    for (int i = 0; in->op == SETP && i < COMPARISONS; ++i)
      if (!strcmp(part, COMPARISON_NAMES[i]) && in->compare == COMPARISONS)
        compare = i;
    if (compare != COMPARISONS)
      in->compare = compare;
    else if (read_type(part, &t)) {
      if (types++ == 0)
        in->type = in->from = t;
      else
        in->from = t;
    } else if (!strcmp(part, "wide")) in->flags |= WIDE;
    else if (!strcmp(part, "hi")) in->flags |= HIGH;
    else if (!strcmp(part, "l") && in->op == SHF) in->flags |= LEFT;
    else if (!strcmp(part, "wrap")) in->flags |= WRAP;
    else if (!strcmp(part, "NaN")) in->flags |= NAN_WINS;
    else if (!strcmp(part, "shared")) in->flags |= TO_SHARED;
    else if (!strcmp(part, "global")) in->flags |= TO_GLOBAL;
    else if (!strcmp(part, "param")) in->flags |= TO_PARAM;
    else if (!strcmp(part, "and")) in->flags |= COMBINE_AND;
    else if (!strcmp(part, "or")) in->flags |= COMBINE_OR;
    else if (!strcmp(part, "xor")) in->flags |= COMBINE_XOR;
    else if (part[0] == 'v' && isdigit((unsigned char)part[1])) in->vector = part[1] - '0';
    else if (!strcmp(part, "rmi") || !strcmp(part, "rpi") || !strcmp(part, "rni") || !strcmp(part, "rzi"))
      in->rounding = part[1];
    else if (strcmp(part, "rn") && strcmp(part, "lo") && strcmp(part, "sync") && strcmp(part, "uni") &&
             !(!strcmp(part, "r") && in->op == SHF))
      return 0;
  }
  return 1;
}

static int read_statement(ptx_kernel *k, char *s) {
  s = trim(s);
  if (!*s || !strncmp(s, ".reg", 4))
    return 1;
  if (k->count == k->capacity) {
    k->capacity = k->capacity ? 2 * k->capacity : 256;
    k->code = realloc(k->code, (size_t)k->capacity * sizeof *k->code);
    k->targets = realloc(k->targets, (size_t)k->capacity * sizeof *k->targets);
  }
  instruction *in = &k->code[k->count];
  memset(in, 0, sizeof *in);
  in->guard = -1;
  in->compare = COMPARISONS;
  in->target = -1;
  k->targets[k->count][0] = 0;
  if (*s == '@') {
    char *end = s + strcspn(s, " \t");
    in->guard_is = s[1] != '!';
    char after = *end;
    *end = 0;
    in->guard = (int)register_of(k, s + (in->guard_is ? 1 : 2));
    *end = after;
    s = trim(end);
  }
  char *end = s + strcspn(s, " \t");
  char *args = *end ? end + 1 : end;
  *end = 0;
  if (!read_opcode(in, s))
    return 0;
  if (in->op == BRA) {
    snprintf(k->targets[k->count++], sizeof *k->targets, "%s", trim(args));
    return 1;
  }
  /* {a, b} counts as several arguments. */
  char *rest = NULL;
  for (char *part = strtok_r(args, ",{}", &rest); part; part = strtok_r(NULL, ",{}", &rest)) {
    if (!*trim(part))
      continue;
    if (in->args == MAX_ARGS || !read_arg(k, part, &in->arg[in->args++]))
      return 0;
  }
  if (in->op == MOV && in->args > 2)
    in->vector = in->arg[0].where == REGISTER && k->count >= 0 ? in->args - 1 : 0;
  ++k->count;
  return 1;
}

/* A pack has its braces behind the first comma, an unpack at the start. */
static int is_unpack(const char *s) {
  const char *mov = strstr(s, "mov.b");
  return mov && strchr(mov, '{') && strchr(mov, '{') < strchr(mov, ',');
}

static int read_line(ptx_kernel *k, char *line, int *inside) {
  char *comment = strstr(line, "//");
  if (comment)
    *comment = 0;
  line = trim(line);
  if (!*line)
    return 1;
  if (!strncmp(line, ".visible .entry", 15)) {
    sscanf(line + 15, " %79[^( ]", k->name);
    return !*inside;
  }
  if (!strncmp(line, ".param", 6)) {
    type t;
    char text[8] = "";
    sscanf(line + 6, " .%7[a-z0-9]", text);
    if (!read_type(text, &t) || k->parameters == 1024)
      return 0;
    k->parameter_bytes[k->parameters++] = t.bytes;
    return 1;
  }
  if (!strncmp(line, ".reqntid", 8))
    return sscanf(line + 8, " %u, %u, %u", &k->threads[0], &k->threads[1], &k->threads[2]) == 3;
  if (!strncmp(line, ".shared", 7)) {
    unsigned align = 1;
    unsigned long count = 1;
    char text[8] = "", name[80] = "";
    type t;
    int read = sscanf(line + 7, " .align %u .%7[a-z0-9] %79[^[;][%lu]", &align, text, name, &count);
    if (read < 3 || !read_type(text, &t) || k->shared_count == MAX_NAMES)
      return 0;
    k->shared_bytes = (k->shared_bytes + align - 1) / align * align;
    named *made = &k->shared[k->shared_count++];
    snprintf(made->name, sizeof made->name, "%s", trim(name));
    made->value = (long)k->shared_bytes;
    made->bytes = (long)(count * (unsigned long)t.bytes);
    k->shared_bytes += (size_t)made->bytes;
    return k->shared_bytes <= 49152;
  }
  if (!strcmp(line, "{"))
    return *inside = 1;
  if (!strcmp(line, "}"))
    return *inside = 0, 1;
  if (!*inside)
    return *line == ')' || !strncmp(line, ".version", 8) || !strncmp(line, ".target", 7) ||
           !strncmp(line, ".address_size", 13);
  size_t length = strlen(line);
  if (line[length - 1] == ':') {
    line[length - 1] = 0;
    if (k->label_count == 4096)
      return 0;
    snprintf(k->labels[k->label_count].name, 80, "%s", line);
    k->labels[k->label_count++].value = k->count;
    return 1;
  }
  if (*line == '{') { /* { .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; } */
    line[length - 1] = 0;
    ++line;
  }
  char *rest = NULL;
  for (char *s = strtok_r(line, ";", &rest); s; s = strtok_r(NULL, ";", &rest)) {
    int unpack = is_unpack(s);
    long before = k->count;
    if (!read_statement(k, s))
      return 0;
    if (k->count > before && unpack)
      k->code[before].vector = -(k->code[before].args - 1);
  }
  return 1;
}

ptx_kernel *ptx_parse(const char *text, char *log, size_t log_bytes) {
  ptx_kernel *k = calloc(1, sizeof *k);
  char *copy = strdup(text), *rest = NULL;
  int inside = 0, good = 1;
  for (char *line = strtok_r(copy, "\n", &rest); line && good; line = strtok_r(NULL, "\n", &rest)) {
    char *original = strdup(line);
    good = read_line(k, line, &inside);
    if (!good)
      snprintf(log, log_bytes, "not understood: %s", original);
    free(original);
  }
  free(copy);
  for (long i = 0; i < k->count && good; ++i)
    if (*k->targets[i]) {
      long label = find(k->labels, k->label_count, k->targets[i]);
      good = label >= 0;
      if (good)
        k->code[i].target = k->labels[label].value;
      else
        snprintf(log, log_bytes, "no such label: %s", k->targets[i]);
    }
  if (good && !*k->name) {
    snprintf(log, log_bytes, "no entry");
    good = 0;
  }
  if (good)
    return k;
  ptx_free(k);
  return NULL;
}

void ptx_free(ptx_kernel *k) {
  free(k->code);
  free(k->targets);
  free(k->registers);
  free(k);
}
const char *ptx_name(const ptx_kernel *k) { return k->name; }
int ptx_parameters(const ptx_kernel *k) { return k->parameters; }
int ptx_parameter_bytes(const ptx_kernel *k, int i) { return k->parameter_bytes[i]; }
const unsigned *ptx_threads(const ptx_kernel *k) { return k->threads; }

/*===- running ------------------------------------------------------------===*/

typedef struct {
  const ptx_kernel *kernel;
  const uint64_t *parameters;
  unsigned size[4][3]; /* thread, group, threads, groups */
  char *shared;
  uint64_t *registers; /* of the thread that runs */
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
    case ADD: r = x + y; break;                                                                    \
    case SUB: r = x - y; break;                                                                    \
    case MUL: r = x * y; break;                                                                    \
    default: r = x / y; break;                                                                     \
    }                                                                                              \
    return of(r);                                                                                  \
  }

static uint64_t float_binary(const instruction *in, uint64_t a, uint64_t b) {
  if (in->op == MAX || in->op == MIN) {
    double x = real(a, in->type.bytes), y = real(b, in->type.bytes);
    if (isnan(x) || isnan(y))
      return rounded(isnan(x) && isnan(y) ? NAN : in->flags & NAN_WINS ? NAN : isnan(x) ? y : x,
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
  case ADD: return u + v;
  case SUB: return u - v;
  case MUL:
  case MAD:
    if (in->flags & HIGH)
      return is_signed ? (uint64_t)(((__int128)x * y) >> 8 * n)
                       : (uint64_t)(((unsigned __int128)u * v) >> 8 * n);
    return is_signed ? (uint64_t)x * (uint64_t)y : u * v;
  case DIV: return v == 0 ? ~(uint64_t)0 : !is_signed ? u / v : y == -1 ? -(uint64_t)x : (uint64_t)(x / y);
  case REM: return v == 0 ? u : !is_signed ? u % v : y == -1 ? 0 : (uint64_t)(x % y);
  case MAX: return is_signed ? (uint64_t)(x > y ? x : y) : u > v ? u : v;
  case MIN: return is_signed ? (uint64_t)(x < y ? x : y) : u < v ? u : v;
  case AND: return u & v;
  case OR: return u | v;
  case XOR: return u ^ v;
  case SHL: return (uint32_t)b >= (unsigned)(8 * n) ? 0 : u << (uint32_t)b;
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
  case EQ: return equal;
  case NE: return !equal && !unordered;
  case LT: case LO: return less;
  case LE: case LS: return less || equal;
  case GT: case HI: return !less && !equal && !unordered;
  case GE: case HS: return !less && !unordered;
  case EQU: return equal || unordered;
  case NEU: return !equal;
  case LTU: return less || unordered;
  case LEU: return less || equal || unordered;
  case GTU: return !less && !equal;
  case GEU: return !less;
  case NUM: return !unordered;
  default: return unordered;
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
  case 'm': x = floor(x); break;
  case 'p': x = ceil(x); break;
  case 'n': x = rint(x); break;
  case 'z': x = trunc(x); break;
  }
  if (to.kind == KIND_F)
    return rounded(x, to.bytes);
  if (isnan(x))
    return 0;
  double top = ldexp(1, 8 * to.bytes - (to.kind == KIND_S));
  double bottom = to.kind == KIND_S ? -top : 0;
  if (to.kind == KIND_S)
    return low(x >= top ? (uint64_t)1 << (8 * to.bytes - 1) ^ ~(uint64_t)0 : x <= bottom ? (uint64_t)1 << (8 * to.bytes - 1) : (uint64_t)(int64_t)x, to.bytes);
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
               ? NULL : "an access outside of the workgroup's memory";
  return m->valid(address, bytes) ? NULL : "an access outside of all arrays";
}

/* What is wrong, or null. pc moves on; 1 in *stopped at a barrier, 2 at the end. */
static const char *step(machine *m, const instruction *in, long *pc, int *stopped) {
  const arg *a = in->arg;
  ++*pc;
  if (in->guard >= 0 && (m->registers[in->guard] & 1) != (uint64_t)in->guard_is)
    return NULL;
  uint64_t x = in->args > 1 ? get(m, a + 1) : 0, y = in->args > 2 ? get(m, a + 2) : 0;
  uint64_t z = in->args > 3 ? get(m, a + 3) : 0, r = 0;
  int n = in->type.bytes, is_float = in->type.kind == KIND_F;
  uint64_t sign = (uint64_t)1 << (8 * n - 1);
  char *at;
  switch (in->op) {
  case BRA: *pc = in->target; return NULL;
  case RET: *stopped = 2; return NULL;
  case BAR: *stopped = 1; return NULL;
  case LD: {
    if (in->flags & TO_PARAM)
      return set(m, a, low(x, n)), NULL;
    int count = in->vector ? in->vector : 1;
    const char *wrong = place(m, in, a + count, &at);
    for (int i = 0; !wrong && i < count; ++i, at += n) {
      uint64_t v = 0;
      memcpy(&v, at, (size_t)n);
      set(m, a + i, in->type.kind == KIND_S ? (uint64_t)extended(v, n) : v);
    }
    return wrong;
  }
  case ST: {
    const char *wrong = place(m, in, a, &at);
    for (int i = 0; !wrong && i < (in->vector ? in->vector : 1); ++i, at += n) {
      uint64_t v = get(m, a + 1 + i);
      memcpy(at, &v, (size_t)n);
    }
    return wrong;
  }
  case MOV:
    if (in->vector < 0) {
      int parts = -in->vector, each = n / parts;
      for (int i = 0; i < parts; ++i)
        set(m, a + i, low(get(m, a + parts) >> 8 * each * i, each));
      return NULL;
    }
    if (in->vector > 0) {
      int each = n / in->vector;
      for (int i = 0; i < in->vector; ++i)
        r |= low(get(m, a + 1 + i), each) << 8 * each * i;
      break;
    }
    r = x;
    break;
  case SELP: r = z & 1 ? x : y; break;
  case SETP:
    r = (uint64_t)compared(in, x, y);
    r = in->flags & COMBINE_AND ? r & z : in->flags & COMBINE_OR ? r | z : in->flags & COMBINE_XOR ? r ^ z : r;
    break;
  case CVT: r = converted(in, x); break;
  case NEG: r = is_float ? x ^ sign : -x; break;
  case ABS: r = is_float ? x & ~sign : extended(x, n) < 0 ? -x : x; break;
  case NOT: r = ~x; break;
  case COPYSIGN: r = (y & ~sign) | (x & sign); break;
  case SQRT: r = n == 4 ? of_f32(sqrtf(as_f32(x))) : of_f64(sqrt(as_f64(x))); break;
  case RCP: r = n == 4 ? of_f32(1 / as_f32(x)) : of_f64(1 / as_f64(x)); break;
  case FMA: r = n == 4 ? of_f32(fmaf(as_f32(x), as_f32(y), as_f32(z))) : of_f64(fma(as_f64(x), as_f64(y), as_f64(z))); break;
  case POPC: r = (uint64_t)__builtin_popcountll(low(x, n)); break;
  case CLZ: r = low(x, n) ? (uint64_t)(__builtin_clzll(low(x, n)) - (64 - 8 * n)) : (uint64_t)(8 * n); break;
  case PRMT: r = permuted(x, y, z); break;
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
  /* A product that is wide keeps all of its bits; a predicate is one. */
  int width = in->op == SETP || in->type.kind == KIND_PRED ? 1 : in->flags & WIDE ? 2 * n : n;
  set(m, a, in->type.kind == KIND_PRED || in->op == SETP ? r & 1 : low(r, width));
  return NULL;
}

/* One workgroup. */
static int run_group(machine *m, uint64_t *registers, long *at, int reversed, char *log,
                     size_t log_bytes) {
  const ptx_kernel *k = m->kernel;
  long threads = (long)k->threads[0] * k->threads[1] * k->threads[2], left = threads;
  memset(at, 0, (size_t)threads * sizeof *at);
  memset(m->shared, 0xcd, k->shared_bytes);
  memset(registers, 0xcd, (size_t)(threads * k->register_count) * sizeof *registers);
  while (left > 0) {
    long meeting = -1;
    for (long turn = 0; turn < threads; ++turn) {
      long t = reversed ? threads - 1 - turn : turn;
      if (at[t] < 0)
        continue;
      m->registers = registers + t * k->register_count;
      m->size[0][0] = (unsigned)(t % k->threads[0]);
      m->size[0][1] = (unsigned)(t / k->threads[0] % k->threads[1]);
      m->size[0][2] = (unsigned)(t / k->threads[0] / k->threads[1]);
      int stopped = 0;
      while (!stopped) {
        long here = at[t];
        const char *wrong = step(m, &k->code[here], &at[t], &stopped);
        if (wrong) {
          snprintf(log, log_bytes, "%s: %s by thread %ld, instruction %ld (%s)", k->name, wrong, t,
                   here, OP_NAMES[k->code[here].op]);
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
  long *at = malloc(threads * sizeof *at);
  m.shared = aligned_alloc(256, (k->shared_bytes + 256) / 256 * 256);
  memcpy(m.size[2], k->threads, sizeof k->threads);
  memcpy(m.size[3], groups, sizeof m.size[3]);
  int failed = 0;
  long count = (long)groups[0] * groups[1] * groups[2];
  for (long g = 0; g < count && !failed; ++g) {
    m.size[1][0] = (unsigned)(g % groups[0]);
    m.size[1][1] = (unsigned)(g / groups[0] % groups[1]);
    m.size[1][2] = (unsigned)(g / groups[0] / groups[1]);
    failed = run_group(&m, registers, at, reversed, log, log_bytes);
  }
  free(registers);
  free(at);
  free(m.shared);
  return failed;
}

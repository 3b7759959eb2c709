/* A reader of PTX. Instructions that it does not know are errors. */
#include "ptx_code.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ptx_op_names[OPS] = {
    "abs", "add",  "and", "atom",     "bar",  "bfe", "bra", "clz", "copysign", "cvt",
    "div", "fma",  "ld",  "ldmatrix", "mad",  "max", "min", "mma", "mov",      "mul",
    "neg", "not",  "or",  "popc",     "prmt", "rcp", "rem", "ret", "selp",     "setp",
    "shf", "shfl", "shl", "shr",      "sqrt", "st",  "sub", "xor"};
static const char *const COMPARISON_NAMES[COMPARISONS] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                                          "equ", "neu", "ltu", "leu", "gtu", "geu",
                                                          "num", "nan", "lo",  "ls",  "hi",  "hs"};

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
  char *end = NULL;
  int bits = at ? (int)strtol(s + 1, &end, 10) : 0;
  if (end && *end) /* f16x2 */
    return 0;
  if (!at || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
    return 0;
  *t = (type){(kind)(at - kinds), bits / 8};
  return 1;
}

static const char *const SPECIALS[] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ctaid.x",
                                       "%ctaid.y", "%ctaid.z",  "%ntid.x",   "%ntid.y",
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
  /* A shuffle's second result says whether there was such a thread: there always is. */
  char *second = strchr(s, '|');
  if (second)
    *second = 0;
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

/* A subgroup's instructions on matrices: the ones that are known, as they stand. */
static int read_matrix_opcode(instruction *in, const char *s) {
  if (!strcmp(s, "ldmatrix.sync.aligned.m8n8.x4.shared.b16") ||
      !strcmp(s, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")) {
    *in = (instruction){.op = LDMATRIX, .type = {KIND_B, 16}, .flags = TO_SHARED};
    in->flags |= strstr(s, ".trans") ? TRANSPOSED : 0;
  } else if (!strcmp(s, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") ||
             !strcmp(s, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")) {
    *in = (instruction){.op = MMA, .type = {KIND_F, 4}, .flags = strstr(s, "bf16") ? BRAIN : 0};
  } else {
    return 0;
  }
  in->guard = in->target = -1;
  in->compare = COMPARISONS;
  return 1;
}

static int read_opcode(instruction *in, char *s) {
  if (!strncmp(s, "ldmatrix", 8) || !strncmp(s, "mma", 3))
    return in->guard < 0 && read_matrix_opcode(in, s);
  int types = 0;
  char *rest = NULL, *part = strtok_r(s, ".", &rest);
  in->op = OPS;
  for (int i = 0; i < OPS; ++i)
    if (!strcmp(part, ptx_op_names[i]))
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
    } else if (!strcmp(part, "wide"))
      in->flags |= WIDE;
    else if (!strcmp(part, "hi"))
      in->flags |= HIGH;
    else if (!strcmp(part, "l") && in->op == SHF)
      in->flags |= LEFT;
    else if (!strcmp(part, "wrap"))
      in->flags |= WRAP;
    else if (!strcmp(part, "NaN"))
      in->flags |= NAN_WINS;
    else if (!strcmp(part, "shared"))
      in->flags |= TO_SHARED;
    else if (!strcmp(part, "global"))
      in->flags |= TO_GLOBAL;
    else if (!strcmp(part, "param"))
      in->flags |= TO_PARAM;
    else if (!strcmp(part, "and"))
      in->flags |= COMBINE_AND;
    else if (!strcmp(part, "or"))
      in->flags |= COMBINE_OR;
    else if (!strcmp(part, "xor"))
      in->flags |= COMBINE_XOR;
    else if (in->op == ATOM && (!strcmp(part, "add") || !strcmp(part, "max") ||
                                !strcmp(part, "min") || !strcmp(part, "cas")))
      in->update = *part == 'a' ? ADD : *part == 'c' ? OPS : part[1] == 'a' ? MAX : MIN;
    else if (in->op == ATOM && (!strcmp(part, "relaxed") || !strcmp(part, "gpu")))
      continue;
    else if (in->op == CVT && !strcmp(part, "f16x2")) {
      in->type = (type){KIND_F, 4};
      in->flags |= PAIR;
      ++types;
    } else if (in->op == SHFL && !strcmp(part, "bfly"))
      continue;
    else if (part[0] == 'v' && isdigit((unsigned char)part[1]))
      in->vector = part[1] - '0';
    else if (!strcmp(part, "rmi") || !strcmp(part, "rpi") || !strcmp(part, "rni") ||
             !strcmp(part, "rzi"))
      in->rounding = part[1];
    else if (strcmp(part, "rn") && strcmp(part, "lo") && strcmp(part, "sync") &&
             strcmp(part, "uni") && !(!strcmp(part, "r") && in->op == SHF))
      return 0;
  }
  return 1;
}

static int read_statement(ptx_kernel *k, char *s) {
  s = trim(s);
  /* What ptxas is asked for changes no result. */
  if (!*s || !strncmp(s, ".reg", 4) || !strncmp(s, ".pragma", 7))
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

/* LLVM writes the factors of a product below each other. */
static void join_lines(char *text) {
  for (char *at = text; (at = strstr(at, "mma.sync"));)
    for (; *at && *at != ';'; ++at)
      if (*at == '\n')
        *at = ' ';
}

ptx_kernel *ptx_parse(const char *text, char *log, size_t log_bytes) {
  ptx_kernel *k = calloc(1, sizeof *k);
  char *copy = strdup(text), *rest = NULL;
  join_lines(copy);
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

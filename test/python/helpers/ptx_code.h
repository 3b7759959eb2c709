/* A kernel in PTX after it was read. */
#ifndef XTENSOR_TEST_PTX_CODE_H
#define XTENSOR_TEST_PTX_CODE_H

#include "ptx.h"

enum { MAX_ARGS = 16, MAX_NAMES = 64 };

typedef enum { KIND_B, KIND_U, KIND_S, KIND_F, KIND_PRED } kind;
typedef struct {
  kind kind;
  int bytes;
} type;

typedef enum {
  ABS,
  ADD,
  AND,
  ATOM,
  BAR,
  BFE,
  BRA,
  CLZ,
  COPYSIGN,
  CVT,
  DIV,
  FMA,
  LD,
  LDMATRIX,
  MAD,
  MAX,
  MIN,
  MMA,
  MOV,
  MUL,
  NEG,
  NOT,
  OR,
  POPC,
  PRMT,
  RCP,
  REM,
  RET,
  SELP,
  SETP,
  SHF,
  SHFL,
  SHL,
  SHR,
  SQRT,
  ST,
  SUB,
  XOR,
  OPS
} op;
extern const char *const ptx_op_names[OPS];

typedef enum { NONE, REGISTER, NUMBER, SPECIAL, SHARED, PARAMETER, NOWHERE } where;
typedef struct {
  where where;
  uint64_t value; /* register, number, special or parameter; shared: offset */
  int64_t offset; /* of an address */
} arg;

/* What the parts of an opcode say beside its types. */
enum {
  WIDE = 1,
  HIGH = 2,
  LEFT = 4,
  WRAP = 8,
  NAN_WINS = 16,
  TO_SHARED = 32,
  TO_GLOBAL = 64,
  TO_PARAM = 128,
  COMBINE_AND = 256,
  COMBINE_OR = 512,
  COMBINE_XOR = 1024,
  PAIR = 2048, /* of float16, the second argument below the first */
  TRANSPOSED = 4096,
  BRAIN = 8192 /* bfloat16 */
};
typedef enum {
  EQ,
  NE,
  LT,
  LE,
  GT,
  GE,
  EQU,
  NEU,
  LTU,
  LEU,
  GTU,
  GEU,
  NUM,
  ISNAN,
  LO,
  LS,
  HI,
  HS,
  COMPARISONS
} comparison;

typedef struct {
  op op;
  type type, from;                                       /* from: of what is converted */
  int flags, compare, vector, guard, guard_is, rounding; /* guard: register, or -1 */
  op update; /* of an atomic: ADD, MAX, MIN, or OPS: compare and exchange */
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

#endif

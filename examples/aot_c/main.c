/* Reads pictures of digits and tells which they are, with the model that examples/digits.py trains.
 *
 *     classify picture.pgm ..
 *
 * The model is a library that xtensor compiled: there is no Python here. A picture is a PGM file
 * (P2 or P5) of 8 by 8 pixels. Prints, for each: file, digit, and the logits as they are in memory.
 */
#include "digits.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, DIGITS = 10, MOST = 256 };

/* The next number of a PGM header; comments reach to the end of a line. */
static int number(FILE *file) {
  int c, n = 0, digits = 0;
  while ((c = fgetc(file)) != EOF) {
    if (c == '#')
      while ((c = fgetc(file)) != EOF && c != '\n')
        ;
    else if (isdigit(c) && digits < 6)
      n = 10 * n + (c - '0'), ++digits;
    else if (digits || !isspace(c))
      break;
  }
  return digits ? n : -1;
}

static int read_picture(const char *path, float *pixels) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 0;
  }
  char kind[3] = "";
  int ok = fread(kind, 1, 2, file) == 2 && (!strcmp(kind, "P2") || !strcmp(kind, "P5"));
  int width = ok ? number(file) : -1, height = ok ? number(file) : -1,
      white = ok ? number(file) : -1;
  ok = width == SIDE && height == SIDE && white > 0 && white < 256;
  for (int i = 0; ok && i < PIXELS; ++i) {
    int value = kind[1] == '2' ? number(file) : fgetc(file);
    ok = value >= 0 && value <= white;
    pixels[i] = (float)value / (float)white;
  }
  fclose(file);
  if (!ok)
    fprintf(stderr, "%s is no PGM picture of %d by %d pixels\n", path, SIDE, SIDE);
  return ok;
}

int main(int argc, char **argv) {
  static float pixels[MOST * PIXELS], scores[MOST * DIGITS];
  int count = argc - 1;
  if (count < 1 || count > MOST) {
    fprintf(stderr, "usage: %s PICTURE.pgm .. (%d at most)\n", argv[0], MOST);
    return 2;
  }
  for (int i = 0; i < count; ++i)
    if (!read_picture(argv[i + 1], pixels + i * PIXELS))
      return 1;

  xt_context context;
  memset(&context, 0, sizeof context);
  digits_logits_image image = {pixels, count, PIXELS};
  digits_logits_result result = {scores, count, DIGITS};
  int32_t code = digits_logits(&image, &result, &context);
  if (code != XT_OK) {
    fprintf(stderr, "%s\n", digits_message(&context, code));
    return 1;
  }

  for (int i = 0; i < count; ++i) {
    int best = 0;
    for (int d = 1; d < DIGITS; ++d)
      if (scores[i * DIGITS + d] > scores[i * DIGITS + best])
        best = d;
    printf("%s: %d ", argv[i + 1], best);
    for (int d = 0; d < DIGITS; ++d)
      printf(" %a", (double)scores[i * DIGITS + d]);
    printf("\n");
  }
  return 0;
}

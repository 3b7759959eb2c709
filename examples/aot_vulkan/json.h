/* As much of JSON as lists of launches are made of: objects, arrays, integers and texts. */
#ifndef JSON_H
#define JSON_H

#include <stdint.h>

typedef struct Json {
  enum { NUMBER, TEXT, LIST, OBJECT } kind;
  int64_t number;
  char *text; /* of a TEXT; the key of a member of an OBJECT is its `key` */
  char *key;
  struct Json *first, *next; /* of a LIST or OBJECT; of what holds this */
} Json;

/* The value at the start of `text`, which is changed; ends the program at anything else. */
Json *json_parse(char *text);
/* A member of an object, or an element of a list; ends the program where it is not there. */
const Json *json_get(const Json *object, const char *key);
const Json *json_at(const Json *list, int64_t i);
int64_t json_count(const Json *list);
int64_t json_number(const Json *object, const char *key);
const char *json_text(const Json *object, const char *key);
/* Puts numbers in the place of what refers to them: {"value": i} becomes values[i]. */
void json_resolve(Json *json, const int64_t *values);

#endif

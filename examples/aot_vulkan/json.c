#include "json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
  fprintf(stderr, "the list of launches: %s\n", what);
  exit(1);
}

static void skip(char **at) {
  while (isspace((unsigned char)**at))
    ++*at;
}

static char *parse_text(char **at) {
  char *start = ++*at, *out = start;
  for (; **at && **at != '"'; ++*at) {
    if (**at == '\\') {
      ++*at;
      if (**at != '"' && **at != '\\' && **at != '/')
        fail("an escape that no name of a file has");
    }
    *out++ = **at;
  }
  if (**at != '"')
    fail("a text without an end");
  ++*at;
  *out = 0;
  return start;
}

static Json *parse(char **at) {
  Json *value = calloc(1, sizeof *value);
  if (!value)
    fail("no memory");
  skip(at);
  if (**at == '"') {
    value->kind = TEXT;
    value->text = parse_text(at);
  } else if (**at == '{' || **at == '[') {
    char end = **at == '{' ? '}' : ']';
    value->kind = **at == '{' ? OBJECT : LIST;
    ++*at;
    Json **last = &value->first;
    for (skip(at); **at != end; skip(at)) {
      char *key = NULL;
      if (end == '}') {
        if (**at != '"')
          fail("a member without a name");
        key = parse_text(at);
        skip(at);
        if (*(*at)++ != ':')
          fail("a member without a value");
      }
      *last = parse(at);
      (*last)->key = key;
      last = &(*last)->next;
      skip(at);
      if (**at == ',')
        ++*at;
      else if (**at != end)
        fail("a list without an end");
    }
    ++*at;
  } else {
    char *end;
    value->kind = NUMBER;
    value->number = strtoll(*at, &end, 10);
    if (end == *at)
      fail("no value where one is needed");
    *at = end;
  }
  return value;
}

Json *json_parse(char *text) { return parse(&text); }

const Json *json_get(const Json *object, const char *key) {
  for (const Json *m = object->first; m; m = m->next)
    if (m->key && !strcmp(m->key, key))
      return m;
  fprintf(stderr, "the list of launches: %s is missing\n", key);
  exit(1);
}

const Json *json_at(const Json *list, int64_t i) {
  const Json *m = list->first;
  while (m && i-- > 0)
    m = m->next;
  if (!m)
    fail("a list is too short");
  return m;
}

int64_t json_count(const Json *list) {
  int64_t n = 0;
  for (const Json *m = list->first; m; m = m->next)
    ++n;
  return n;
}

int64_t json_number(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  if (value->kind != NUMBER)
    fail("something else than a number");
  return value->number;
}

const char *json_text(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  if (value->kind != TEXT)
    fail("something else than a text");
  return value->text;
}

void json_resolve(Json *json, const int64_t *values) {
  if (json->kind == OBJECT && json->first && !strcmp(json->first->key, "value")) {
    json->number = values[json->first->number];
    json->kind = NUMBER;
    json->first = NULL;
  }
  for (Json *m = json->first; m; m = m->next)
    json_resolve(m, values);
}

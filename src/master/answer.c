#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "master/answer.h"

json_t *answer_text(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string != NULL)
		return string;
	copy = strdup(text);
	for (char *at = copy; at != NULL && *at != '\0'; at++) {
		if ((unsigned char)*at >= 0x80)
			*at = '?';
	}
	string = copy != NULL ? json_string(copy) : NULL;
	free(copy);
	return string;
}

json_t *answer_success(json_t *object)
{
	json_t *answer = json_pack("{sb}", "ok", 1);

	if (object != NULL && json_object_update(answer, object) < 0) {
		json_decref(answer);
		answer = NULL;
	}
	json_decref(object);
	return answer;
}

json_t *answer_failure(const char *text)
{
	return json_pack("{sb so}", "ok", 0, "error", answer_text(text));
}

char *answer_to_line(json_t *answer, size_t *len)
{
	/* Bounds of durations are short decimals, and stay so with fewer digits than a double has. */
	char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(12)), *line;

	json_decref(answer);
	if (text == NULL)
		return NULL;
	*len = strlen(text);
	line = realloc(text, *len + 2);
	if (line == NULL) {
		free(text);
		return NULL;
	}
	memcpy(line + *len, "\n", 2);
	++*len;
	return line;
}

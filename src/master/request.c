#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "master/request.h"

#define VERB "verb"

enum status request_parse(
    const char *line, size_t len, json_t **object, const char **verb, struct reason *why)
{
	json_error_t error;
	json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);

	if (root == NULL)
		return reason_set(
		    why, "the request is no JSON: byte %d: %s", error.position, error.text);
	*verb = json_string_value(json_object_get(root, VERB));
	if (*verb == NULL) {
		json_decref(root);
		return reason_set(why, "the request is no object with a \"" VERB
				       "\"; send {\"" VERB "\": \"help\"} for a list of them");
	}
	*object = root;
	return STATUS_OK;
}

static bool is_known(const char *const *keys, const char *key)
{
	if (strcmp(key, VERB) == 0)
		return true;
	for (; keys != NULL && *keys != NULL; keys++) {
		if (strcmp(*keys, key) == 0)
			return true;
	}
	return false;
}

enum status request_check_keys(json_t *object, const char *const *keys, struct reason *why)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (!is_known(keys, key))
			return reason_set(why, "'%s' takes no '%.60s'",
			    json_string_value(json_object_get(object, VERB)), key);
	}
	return STATUS_OK;
}

#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "module/framings.h"
#include "settings/value.h"

/* Of head and of tail: far more than a header needs, and far less than a queue holds. */
#define MAX_OVERHEAD (64 * 1024)

/* What changes while a framing is used. */
struct faults {
	struct log_cap cap;
	struct reason why; /* of the last answer that was wrong */
};

/* A framing that a module supplies. */
struct module_framing {
	struct framing framing; /* first */
	struct rnl_framing api;
	struct module_framing *next; /* owned */
	const char *module;          /* borrowed */
	char *name;                  /* owned */
	struct faults *faults;       /* owned */
};

static const char *const own_names[] = { "tlv", "ltv", "htlv-crc", "length-field", "line" };
#define N_OWN_NAMES (sizeof(own_names) / sizeof(own_names[0]))

PRINTF_LIKE(3, 4)
static enum decode blame(
    const struct module_framing *self, struct frame *frame, const char *fmt, ...)
{
	char what[sizeof(self->faults->why.text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	reason_set(&self->faults->why, "module '%s' decodes wrongly: %s", self->module, what);
	frame->why = self->faults->why.text;
	return DECODE_BAD;
}

/* The module has found a frame, or a corrupt one. */
static enum decode take(const struct module_framing *self, const uint8_t *in, size_t in_len,
    const struct rnl_frame *found, struct frame *frame)
{
	size_t at;

	if (found->used == 0 || found->used > in_len)
		return blame(
		    self, frame, "a frame of %zu bytes in %zu bytes", found->used, in_len);
	if (found->id > self->framing.last_id)
		return blame(self, frame, "an id of %" PRIu32 ", and its max_id is %" PRIu32,
		    found->id, self->framing.last_id);
	frame->size = found->used;
	frame->payload = in;
	if (found->len == 0)
		return DECODE_FRAME;
	/* As numbers, for a pointer that is wrong may point anywhere. */
	at = (uintptr_t)found->payload - (uintptr_t)in;
	if (at > found->used || found->len > found->used - at)
		return blame(
		    self, frame, "a payload of %zu bytes that is not in its frame", found->len);
	frame->payload = in + at;
	return DECODE_FRAME;
}

static enum decode judge(const struct module_framing *self, enum rnl_decode said,
    const uint8_t *in, size_t in_len, size_t max_payload, const struct rnl_frame *found,
    struct frame *frame)
{
	enum decode taken;

	frame->id = found->id;
	frame->len = found->len;
	frame->why = found->why != NULL ? found->why : "it does not say why";
	switch (said) {
	case RNL_FRAME:
		taken = take(self, in, in_len, found, frame);
		return taken == DECODE_FRAME && found->len > max_payload ? DECODE_TOO_LONG
									 : taken;
	case RNL_CORRUPT:
		frame->len = 0;
		if (found->used == 0 || found->used > in_len)
			return blame(self, frame, "a corrupt frame of %zu bytes in %zu bytes",
			    found->used, in_len);
		frame->len = found->len;
		frame->size = found->used;
		return DECODE_CORRUPT;
	case RNL_MORE:
		if (in_len - 1 >= max_payload + framing_overhead(&self->framing))
			return blame(
			    self, frame, "%zu bytes are not enough for a frame", in_len);
		return DECODE_MORE;
	case RNL_TOO_LONG:
		return DECODE_TOO_LONG;
	case RNL_BAD:
		return DECODE_BAD;
	}
	return blame(self, frame, "it answers %d", (int)said);
}

static enum decode decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	const struct module_framing *self = (const struct module_framing *)framing;
	struct rnl_frame found = { .size = sizeof(found) };
	/* The module may unmask a frame in its place, which is the worker's input buffer. */
	void *bytes = (void *)(uintptr_t)in;

	return judge(self, self->api.decode(bytes, in_len, max_payload, &found, self->api.arg),
	    in, in_len, max_payload, &found, frame);
}

static size_t seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	const struct module_framing *self = (const struct module_framing *)framing;
	char rest[LOG_REST_SIZE];
	size_t size;

	if (id > framing->last_id)
		return 0;
	size = self->api.encode(frame, id, len, self->api.arg);
	if (size <= len + framing_overhead(framing))
		return size;
	if (log_cap_allows(&self->faults->cap, clock_ms(), rest))
		log_error("module '%s': framing '%s': it encodes %zu bytes as %zu, and there "
			  "was room for %zu%s",
		    self->module, self->name, len, size, len + framing_overhead(framing), rest);
	return 0;
}

static bool is_own_name(const char *name)
{
	for (size_t i = 0; i < N_OWN_NAMES; i++) {
		if (strcmp(name, own_names[i]) == 0)
			return true;
	}
	return false;
}

static struct module_framing *find_in(const struct module *module, const char *name)
{
	struct module_framing *framing = module->framings;

	while (framing != NULL && strcmp(framing->name, name) != 0)
		framing = framing->next;
	return framing;
}

/* What is wrong with it; NULL: nothing. */
static const char *fault_of(const struct module *module, const struct rnl_framing *api)
{
	if (api->name == NULL || !value_is_name(api->name))
		return "its name is none of letters, digits, '.', '_' and '-'";
	if (is_own_name(api->name))
		return "runneld has one of that name";
	if (find_in(module, api->name) != NULL)
		return "the module has added it already";
	if (api->decode == NULL || api->encode == NULL)
		return "decode or encode is missing";
	if (api->head > MAX_OVERHEAD || api->tail > MAX_OVERHEAD)
		return "head or tail is greater than 64 KiB";
	return NULL;
}

static void framing_free(struct module_framing *self)
{
	free(self->name);
	free(self->faults);
	free(self);
}

static struct module_framing *framing_new(
    const struct module *module, const struct rnl_framing *api)
{
	struct module_framing *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->name = strdup(api->name);
	self->faults = calloc(1, sizeof(*self->faults));
	if (self->name == NULL || self->faults == NULL) {
		framing_free(self);
		return NULL;
	}
	self->api = *api;
	self->module = module->name;
	self->framing = (struct framing){
		.name = self->name,
		.decode = decode,
		.seal = seal,
		.head = api->head,
		.tail = api->tail,
		.max_payload = api->max_payload > 0 && api->max_payload < UINT32_MAX
				   ? api->max_payload
				   : UINT32_MAX,
		.last_id = api->max_id > 0 ? api->max_id : UINT32_MAX,
	};
	snprintf(self->framing.terms, FRAMING_TERMS_SIZE, "of module %s", module->name);
	return self;
}

enum rnl_status module_framing_add(struct module *module, const struct rnl_framing *api)
{
	struct module_framing *self;
	const char *fault;

	if (api->size < sizeof(*api)) {
		log_error("module '%s': a framing without its size", module->name);
		return RNL_EINVAL;
	}
	fault = fault_of(module, api);
	if (fault != NULL) {
		log_error("module '%s': framing '%s': %s", module->name,
		    api->name != NULL ? api->name : "", fault);
		return RNL_EINVAL;
	}
	self = framing_new(module, api);
	if (self == NULL)
		return RNL_ENOMEM;
	self->next = module->framings;
	module->framings = self;
	return RNL_OK;
}

void module_framings_free(struct module *module)
{
	while (module->framings != NULL) {
		struct module_framing *gone = module->framings;

		module->framings = gone->next;
		framing_free(gone);
	}
}

static struct length_field_rules rules_of(const struct length_field_settings *settings)
{
	bool is_little = settings->order == ORDER_LITTLE;

	return (struct length_field_rules){
		.length = { .offset = settings->offset,
		    .size = settings_length_size(settings->length),
		    .is_little = is_little },
		.id = { .offset = settings->id_offset,
		    .size = settings->id_length,
		    .is_little = settings->id_order == ID_ORDER_SAME
				     ? is_little
				     : settings->id_order == ID_ORDER_LITTLE },
		.adjustment = (int32_t)settings->adjustment,
		.strip = settings->strip,
		.fixed_id = settings->id,
	};
}

/* NULL: runneld has none of this name. */
static const struct framing *make_own(
    const struct listen_settings *settings, union framing_room *room)
{
	struct length_field_rules rules;

	if (strcmp(settings->framing, framing_tlv.name) == 0)
		return &framing_tlv;
	if (strcmp(settings->framing, framing_ltv.name) == 0)
		return &framing_ltv;
	if (strcmp(settings->framing, "htlv-crc") == 0) {
		htlv_crc_init(&room->htlv_crc, (uint8_t)settings->htlv_crc.head);
		return &room->htlv_crc.framing;
	}
	if (strcmp(settings->framing, "length-field") == 0) {
		rules = rules_of(&settings->length_field);
		length_field_init(&room->length_field, &rules);
		return &room->length_field.framing;
	}
	if (strcmp(settings->framing, "line") == 0) {
		line_init(&room->line, settings->line.id,
		    settings->line.terminator == TERMINATOR_CRLF);
		return &room->line.framing;
	}
	return NULL;
}

static enum status refuse_unknown(const char *kind, const struct listen_settings *settings,
    const struct modules *modules, struct reason *why)
{
	/* A module that has it and that the listener lacks is what is missing most likely. */
	for (size_t i = 0; i < modules->n; i++) {
		if (find_in(modules->list[i], settings->framing) != NULL)
			return reason_set(why,
			    "%s: %s '%s': framing: '%s' is of module '%s', which is not "
			    "among the section's modules",
			    settings->framing_place, kind, settings->name, settings->framing,
			    modules->list[i]->name);
	}
	return reason_set(why,
	    "%s: %s '%s': framing: '%s' is refused; give tlv, ltv, htlv-crc, length-field, "
	    "line, or the name of a framing that a module of the section supplies",
	    settings->framing_place, kind, settings->name, settings->framing);
}

enum status framing_find(const char *kind, const struct listen_settings *settings,
    const struct modules *modules, union framing_room *room, const struct framing **framing,
    struct reason *why)
{
	const struct module_framing *found = NULL;

	*framing = make_own(settings, room);
	if (*framing != NULL)
		return STATUS_OK;
	for (size_t i = 0; i < settings->n_modules; i++) {
		const struct module *module = modules_get(modules, settings->modules[i]);
		const struct module_framing *one = find_in(module, settings->framing);

		if (one != NULL && found != NULL)
			return reason_set(why,
			    "%s: %s '%s': framing: module '%s' and module '%s' both supply "
			    "'%s'; remove one of them from the section",
			    settings->framing_place, kind, settings->name, found->module,
			    one->module, settings->framing);
		if (one != NULL)
			found = one;
	}
	if (found == NULL)
		return refuse_unknown(kind, settings, modules, why);
	*framing = &found->framing;
	return STATUS_OK;
}

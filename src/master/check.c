/*
 * runneld -t and -T: the conf is checked as for a start, and nothing is touched.
 */
#include "config.h"

#include <errno.h>
#include <ev.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "master/checker.h"
#include "master/generation.h"
#include "master/master.h"

struct check {
	struct ev_loop *loop;
	const char *conf_path;
	bool is_printing;
	int exit_status;
};

static void print_text(struct check *check, const char *text)
{
	fputs(text, stdout);
	if (fflush(stdout) == 0)
		return;
	log_error("cannot print the conf: %s", strerror(errno));
	check->exit_status = 1;
}

static void on_checked(char *text, const struct reason *why, void *arg)
{
	struct check *check = arg;
	struct generation *generation = NULL;
	struct reason limits_why = { "" };

	ev_break(check->loop, EVBREAK_ALL);
	if (text == NULL) {
		log_error("%s", why->text);
		check->exit_status = 1;
		return;
	}
	if (check->is_printing)
		print_text(check, text);
	if (generation_new(1, check->conf_path, text, 0, &generation, &limits_why) !=
	    STATUS_OK) {
		log_error("%s", limits_why.text);
		check->exit_status = 1;
	} else if (!check->is_printing) {
		log_info("%s: the conf and its modules are good", check->conf_path);
	}
	generation_destroy(&generation);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

int master_check(const struct master_options *options, bool is_printing)
{
	struct check check = {
		.loop = ev_default_loop(EVFLAG_AUTO),
		.conf_path = options->conf_path,
		.is_printing = is_printing,
	};
	const struct checker_config config = {
		.loop = check.loop,
		.conf_path = options->conf_path,
		.done = on_checked,
		.in_child = do_nothing,
		.arg = &check,
	};
	struct reason why = { "" };

	if (check.loop == NULL)
		reason_set(&why, "libev has no usable backend: is LIBEV_FLAGS set?");
	else if (checker_start(&config, &why) != NULL)
		ev_run(check.loop, 0);
	if (why.text[0] != '\0') {
		log_error("%s", why.text);
		check.exit_status = 1;
	}
	if (check.loop != NULL)
		ev_loop_destroy(check.loop);
	return check.exit_status;
}

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"

uint32_t settings_length_size(enum length_size size)
{
	return size == LENGTH_SIZE_8 ? 8 : (uint32_t)size + 1;
}

const struct module_settings *settings_module(const struct settings *settings, const char *name)
{
	for (size_t i = 0; i < settings->n_modules; i++) {
		if (strcmp(settings->modules[i].name, name) == 0)
			return &settings->modules[i];
	}
	return NULL;
}

static void list_free(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static void module_free(struct module_settings *module)
{
	for (size_t i = 0; i < module->n_values; i++)
		free(module->values[i].string);
	free(module->values);
	free(module->path);
	free(module->name);
}

static void listener_free(struct listen_settings *listener)
{
	list_free(listener->addresses, listener->n_addresses);
	list_free(listener->modules, listener->n_modules);
	free(listener->framing);
	free(listener->framing_place);
	free(listener->heartbeat_place);
	free(listener->name);
}

void settings_destroy(struct settings **settings)
{
	struct settings *gone = *settings;

	if (gone == NULL)
		return;
	for (size_t i = 0; i < gone->n_modules; i++)
		module_free(&gone->modules[i]);
	for (size_t i = 0; i < gone->n_listeners; i++)
		listener_free(&gone->listeners[i]);
	for (size_t i = 0; i < gone->n_upstreams; i++)
		listener_free(&gone->upstreams[i].common);
	free(gone->modules);
	free(gone->listeners);
	free(gone->upstreams);
	list_free(gone->worker_cpus, gone->n_worker_cpus);
	free(gone->user);
	free(gone->group);
	free(gone->pid_file);
	free(gone->control_socket);
	free(gone->metrics_address);
	list_free(gone->metrics_hosts, gone->n_metrics_hosts);
	free(gone->metrics_program);
	free(gone->control_group);
	free(gone->module_dir);
	free(gone->log);
	free(gone->connection_log);
	free(gone);
	*settings = NULL;
}

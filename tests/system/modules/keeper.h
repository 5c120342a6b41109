/*
 * What the module "keeper" does, by message id; its answers have the same id and are texts.
 */
#ifndef TESTS_SYSTEM_KEEPER_H
#define TESTS_SYSTEM_KEEPER_H

enum {
	/* Names. */
	KEEPER_BIND = 700,   /* key -> "status former", the former's id or 0 */
	KEEPER_FIND = 701,   /* key -> the id of the connection, or 0 */
	KEEPER_UNBIND = 702, /* key -> "done" */
	KEEPER_SEND = 703,   /* key -> status; whom it leads to gets KEEPER_TOLD */
	KEEPER_TOLD = 704,
	/* What is left when a connection ends. The log tells, in the order of the calls. */
	KEEPER_DATA = 710,   /* text: becomes the data -> "done"; logs "freed TEXT" */
	KEEPER_ADD = 711,    /* text: a close callback -> status; logs "called TEXT" */
	KEEPER_REMOVE = 712, /* the callback that was added last -> "done" */
	KEEPER_WHERE = 713,  /* -> "local age-ms idle-ms" */
	/* Timers. */
	KEEPER_EVERY = 720, /* u32 ms: from then on KEEPER_TICK, "conn" */
	/* Functions that are NULL -> "status timers": how many timers there are then. */
	KEEPER_NULL = 730,
	KEEPER_HALT = 721, /* no more of them -> "done" */
	KEEPER_TICK = 722, /* also, with option tick: "all", to all of the worker */
};

#endif

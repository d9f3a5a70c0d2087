/* SPDX-License-Identifier: MIT */
/*
 * Asks a host which timeline it writes (urlmode.leader). A primary that was cut off
 * from its cluster still takes writes, but its commits wait for a standby without
 * end. The host that was promoted in its place has a higher timeline.
 */
#ifndef UM_LEADER_H
#define UM_LEADER_H

#define UM_LEADER_ASK_S 2 /* for the connection, and again for the answer */
#define UM_TIMELINE_LEN 8 /* hexadecimal digits, so that texts compare */

enum um_leader {
	UM_LEADER_SILENT,  /* it did not answer */
	UM_LEADER_FOLLOWS, /* it is in recovery */
	UM_LEADER_WRITES
};

/*
 * Waits for the answer of this host of `conninfo`: for a thread of its own. port may
 * be NULL, host and hostaddr empty. Without UM_LEADER_WRITES, the timeline is as before.
 */
enum um_leader um_leader_ask(const char *conninfo, const char *host,
	const char *hostaddr, const char *port,
	char timeline[static UM_TIMELINE_LEN + 1]);

#endif

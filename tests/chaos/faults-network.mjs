// Faults of the network that nobody is told of: connections that are half open, and a database
// whose name gets another address.

import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../support/wait.mjs';
import { openProxy } from './proxy.mjs';

/** Longer than a program waits for its database. */
const LONG = 4_000;
const RECOVERY = 120_000;
const OTHER_ADDRESS = '127.0.0.2';

/** The relays stop carrying what they carry, and tell neither end. New connections work. */
async function halfOpen(lab, relays) {
	relays.forEach((relay) => relay.stopCarrying());
	await sleep(2 * LONG);
	const before = lab.users.acknowledged;
	await until('users go on over new connections', () => lab.users.acknowledged > before + 1, { timeout: RECOVERY });
	relays.forEach((relay) => relay.dropStopped());
}

/** @type {Record<string, (lab: import('./lab.mjs').Lab) => Promise<unknown>>} */
export const NETWORK_FAULTS = {
	'connections to PostgreSQL half open': (lab) => halfOpen(lab, [lab.toDatabase]),
	'connections to programs half open': (lab) => halfOpen(lab, lab.toPrograms),
	'connections of browsers half open': (lab) => halfOpen(lab, [lab.toNginx]),
	'connections to the api half open': (lab) => halfOpen(lab, [lab.toApi]),

	'the database has another address': async (lab) => {
		const { port, target } = lab.toDatabase;
		const other = await openProxy(target, { host: OTHER_ADDRESS, port });
		try {
			lab.control.setLocalhostElsewhere(true);
			await lab.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'urlmode_cgi'");
			await until('the programs look the name up again', () => other.carried > 0, { timeout: RECOVERY });
			await sleep(LONG);
		} finally {
			lab.control.setLocalhostElsewhere(false);
			await other.close();
		}
	},
};

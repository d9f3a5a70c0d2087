// A primary and its standby, which part: the standby is promoted, and the primary goes on without it. It still takes writes,
// and its commits wait for a standby that is not there.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';

import { Cluster } from './cluster.js';
import { until } from './database.js';

/** Milliseconds, on a machine that does other things as well. */
const PATIENCE = 120_000;

/**
 * @param {{ after: (end: () => unknown) => void }} t
 */
export async function startPair(t) {
	// A password takes valgrind seconds, and a leader that does not answer in two of them is not found.
	const primary = await Cluster.start(t, (data) => {
		const file = join(data, 'pg_hba.conf');
		writeFileSync(file, `host all urlmode_cgi 127.0.0.1/32 trust\n${readFileSync(file, 'utf8')}`);
		return '';
	});
	const admin = await connect(t, primary.adminUrl);
	await admin.query(`ALTER ROLE urlmode_cgi PASSWORD '${new URL(primary.adminUrl).password}'`);
	const standby = await Cluster.standbyOf(t, primary);
	const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
	return {
		primary, standby,
		/** Of both, the primary first. */
		urlOf: (role, query = '') => primary.urlOf(role, { hosts, query }),
		/** How many sessions of the old primary wait in their commit. */
		hung: async () => (await admin.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename <> 'postgres'")).rowCount,
		/** Resolves when both take writes, and only the promoted one commits them. */
		part: async () => {
			const other = await connect(t, standby.adminUrl);
			const { rows: [{ lsn }] } = await admin.query('SELECT pg_current_wal_lsn() AS lsn');
			await until('it has caught up', async () => (await other.query('SELECT pg_last_wal_replay_lsn() >= $1 AS yes', [lsn])).rows[0].yes, PATIENCE);
			await standby.promote();
			await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'missing'");
			await admin.query('SELECT pg_reload_conf()');
			// One commit after another, until one hangs: all processes know then.
			for (let hangs = false; !hangs;) {
				const probe = await connect(t, primary.adminUrl);
				let ended = false;
				probe.query('CREATE TEMPORARY TABLE probe ()').catch(() => {}).finally(() => (ended = true));
				await until('a commit has ended, or hangs', async () => {
					hangs = (await admin.query("SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'SyncRep'", [probe.processID])).rowCount > 0;
					return hangs || ended;
				}, PATIENCE);
			}
		},
	};
}

async function connect(t, connectionString) {
	const client = new pg.Client({ connectionString });
	client.on('error', () => {});
	await client.connect();
	t.after(() => client.connection.stream.destroy());
	return client;
}

// The recipe with Patroni of nginx/DATABASE.md, under payments that go through nginx and the programs, for which servers in
// Node, Python and, where there is Go, Go wait: `make patroni`. Each fault is a row of the table. What was acknowledged, to
// the provider or to a call, is in the database of the leader at the end; PATRONI= has an expression for the faults.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { PROGRAMS } from '../chaos/faults.mjs';
import { Server } from '../chaos/servers.mjs';
import { Users } from '../chaos/users.mjs';
import { wrongStories } from '../chaos/verdict.mjs';
import { openFixture } from '../support/fixture.mjs';
import { buildGo } from '../support/go.mjs';
import { until } from '../support/wait.mjs';
import { Patronis } from './cluster.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = execFileSync('sh', ['-c', '. tests/stack/versions && printf /usr/lib/postgresql/$postgresql/bin'], { cwd: ROOT, encoding: 'utf8' });
const USERS = 8;
/** How long it may take until somebody pays again, in milliseconds. */
const RECOVERY = 120_000;

/** Each is done to the leader; what it returns makes the cluster whole again. */
const FAULTS = {
	crash: async (cluster, leader) => {
		await cluster.crash(leader);
		return () => cluster.startPatroni(leader);
	},
	switchover: (cluster, leader) => cluster.switchOver(leader),
	'SIGKILL of Patroni alone': (cluster, leader) => {
		cluster.killPatroni(leader);
		return () => cluster.startPatroni(leader);
	},
	'the same, started again after a second': async (cluster, leader) => {
		cluster.killPatroni(leader);
		await sleep(1_000);
		cluster.startPatroni(leader);
	},
	partition: (cluster, leader) => {
		cluster.cutOff(leader);
		return () => cluster.mend(leader);
	},
};
const LEADER_STAYS = ['the same, started again after a second'];
const CHOSEN = Object.keys(FAULTS).filter((fault) => new RegExp(process.env.PATRONI ?? '').test(fault));

/** The longest time in which nobody had paid, from the beginning of the fault. */
function outage(stories, begin) {
	const times = [begin, ...stories.map(({ at }) => at).filter((at) => at > begin).sort((one, other) => one - other)];
	return Math.max(...times.slice(1).map((at, n) => at - times[n]));
}

for (const way of ['HAProxy', 'all hosts in the URL']) {
	describe(`a cluster of Patroni, reached by ${way}`, () => {
		const parts = [];
		let fixture;
		let cluster;
		let servers;
		let users;

		const closeAtEnd = (part) => (parts.unshift(part), part);
		const inUrl = (url) => {
			const through = cluster.urlOf(url);
			return way === 'HAProxy' ? through.replace(/@[^/]*/, `@127.0.0.1:${cluster.port}`) : through;
		};

		/** As the administrator, of the leader. */
		async function sql(text, values) {
			const leader = await until('one leads', () => cluster.leader());
			const client = new pg.Client({ connectionString: cluster.urlOf(fixture.stack.env.URLMODE_ADMIN_DATABASE_URL, [leader]) });
			await client.connect();
			return client.query(text, values).then(({ rows }) => rows).finally(() => client.end());
		}

		before(async () => {
			fixture = closeAtEnd(await openFixture({ name: `patroni-${way.split(' ')[0]}`, own: true }));
			const { stack } = fixture;
			await stack.service('stop', 'postgres');
			cluster = closeAtEnd(await Patronis.start({
				folder: path.join(stack.runDir, 'patroni'), data: path.join(stack.runDir, 'pg'), bin: BIN,
				admin: new URL(stack.env.URLMODE_ADMIN_DATABASE_URL), as: await stack.user(),
			}));
			const config = JSON.parse(await readFile(stack.env.URLMODE_CONFIG, 'utf8'));
			config.database_url = `${inUrl(config.database_url)}?connect_timeout=2`;
			await writeFile(stack.env.URLMODE_CONFIG, JSON.stringify(config));
			await stack.service('restart', ...PROGRAMS);
			await fixture.untilServing();

			const hasGo = await buildGo('tests/waiting/go', path.join(ROOT, 'build/go/waiting'));
			const env = { ...stack.env, URLMODE_DATABASE_URL: inUrl(stack.env.URLMODE_DATABASE_URL) };
			servers = ['node', 'python', ...hasGo ? ['go'] : []].map((language) => closeAtEnd(new Server(language, env)));
			users = closeAtEnd(new Users(fixture, servers, undefined, sql, ['pay']));
			users.start(USERS);
			await until('they pay', () => users.acknowledged >= 5 * USERS, { timeout: RECOVERY });
		});

		after(async () => {
			for (const part of parts) await Promise.resolve(part.close()).catch((error) => console.error(error));
		});

		for (const fault of CHOSEN) {
			test(fault, async (t) => {
				const leader = await cluster.leader();
				const before = users.acknowledged;
				const begin = performance.now();
				const mend = await FAULTS[fault](cluster, leader);
				if (!LEADER_STAYS.includes(fault)) {
					await until('another one leads', async () => ![undefined, leader].includes(await cluster.leader()), { timeout: RECOVERY });
				}
				const elected = ((performance.now() - begin) / 1_000).toFixed(1);
				const enough = users.acknowledged + 5 * USERS;
				await until('they pay again', () => users.acknowledged >= enough, { timeout: RECOVERY });
				await mend?.();
				await cluster.untilWhole();
				const later = users.acknowledged + 2 * USERS;
				await until('they go on', () => users.acknowledged >= later, { timeout: RECOVERY });
				t.diagnostic(`${fault}: nobody could pay for ${(outage(users.stories, begin) / 1_000).toFixed(1)} s, `
					+ `${LEADER_STAYS.includes(fault) ? 'the same leader' : `another leader after ${elected} s`}, ${users.acknowledged - before} payments`);
			});
		}

		test('nothing is lost, and nothing is done twice', async (t) => {
			await users.stop();
			const { differs, ...wrong } = await wrongStories(users.stories, sql);
			// What an old primary that nobody has fenced says of rows that it does not have.
			const outdated = differs.filter((each) => way !== 'HAProxy' && each.includes('does not exist for this subject'));
			t.diagnostic(`${users.stories.length} payments, servers in ${servers.map(({ language }) => language).join(', ')} waited for each; `
				+ `${outdated.length} waits were told that there is no such elicitation; `
				+ `tried again: ${[...users.again].map(([why, n]) => `${n} × ${why}`).join(', ')}`);
			assert.deepEqual({ ...wrong, differs: differs.filter((each) => !outdated.includes(each)) }, { lost: [], doubled: [], differs: [] });
		});
	});
}

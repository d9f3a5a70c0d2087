// Logs are rotated by the real logrotate while requests come, with the file that
// is shipped: each request has exactly one line afterwards, in the log or in one
// of the rotated files, and each line is whole.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATHS = { connect: '/connect/demo?state=x', 'oauth-return': '/oauth/demo/return', status: '/done' };
const ROTATIONS = 12;
const WORKERS = 4;

const execute = promisify(execFile);

let fixture;
let folder;

before(async () => {
	fixture = await openFixture({ name: 'logrotate', own: true });
	folder = path.join(fixture.stack.runDir, 'rotated');
	const user = await fixture.stack.user();
	await mkdir(folder, { mode: 0o750 });
	const config = JSON.parse(await readFile(fixture.stack.env.URLMODE_CONFIG, 'utf8'));
	await writeFile(fixture.stack.env.URLMODE_CONFIG, JSON.stringify({ ...config, log_file: path.join(folder, 'urlmode.log') }));
	if (user.uid !== undefined) {
		await chown(folder, user.uid, user.gid);
	}
	for (const name of Object.keys(PATHS)) {
		await fixture.stack.service('restart', name);
	}
});

after(() => fixture?.close());

/** The file that is shipped, for this stack's log, its user and its programs. */
async function configuration(signal) {
	const pids = await Promise.all(Object.keys(PATHS).map(async (name) => (await fixture.stack.program(name)).pid));
	const { uid, gid } = await fixture.stack.user();
	const id = async (...options) => (await execute('id', [...options, ...uid === undefined ? [] : [`${uid}`]])).stdout.trim();
	const [user, group] = [await id('-un'), await id('-gn')];
	const shipped = await readFile(path.join(ROOT, 'nginx/logrotate'), 'utf8');
	const changes = [
		['/var/log/urlmode/', `${folder}/`],
		['su urlmode urlmode', gid === undefined ? '' : `su ${user} ${group}`],
		['rotate 14', 'rotate 100'],
		[/postrotate[^]*endscript/, `postrotate\nkill -${signal} ${pids.join(' ')}\nendscript`],
		['create 0640 urlmode urlmode', `create 0640 ${user} ${group}`],
	];

	return changes.reduce((text, [what, by]) => {
		assert.ok(text.search(what) >= 0, `${what} is in the shipped file`);
		return text.replace(what, by);
	}, shipped);
}

async function rotate(signal) {
	const file = path.join(fixture.stack.runDir, 'logrotate.conf');
	await writeFile(file, await configuration(signal), { mode: 0o644 });
	await execute('/usr/sbin/logrotate', ['--force', '--state', path.join(fixture.stack.runDir, 'logrotate.state'), file]);
}

/** Sends requests until `stop`, which returns the ids of those that were answered. */
function load() {
	const agent = new Agent({ keepAlive: true });
	const ids = [];
	let stopped = false;
	const ask = (url) => new Promise((resolve, reject) => {
		get(url, { agent }, (answer) => {
			answer.resume().on('end', () => resolve(answer.headers['x-request-id'])).on('error', reject);
		}).on('error', reject);
	});
	const workers = Array.from({ length: WORKERS }, async (_, n) => {
		const paths = Object.values(PATHS);
		for (let i = n; !stopped; i++) {
			ids.push(await ask(fixture.url(paths[i % paths.length])));
		}
	});

	return {
		ids,
		stop: async () => {
			stopped = true;
			await Promise.all(workers);
			agent.destroy();
			return ids;
		},
	};
}

/** Every line of the log and of the rotated files, which may be compressed. */
async function lines() {
	const texts = await Promise.all((await readdir(folder)).map(async (name) => {
		const file = path.join(folder, name);
		return name.endsWith('.gz')
			? (await execute('zcat', [file], { maxBuffer: 1 << 28 })).stdout
			: readFile(file, 'utf8');
	}));

	return texts.flatMap((text) => text.split('\n').filter(Boolean));
}

for (const signal of ['USR1', 'HUP']) {
	describe(`SIG${signal}`, () => {
		test(`each request has one line after ${ROTATIONS} rotations under load`, async () => {
			const { ids, stop } = load();
			const files = (await readdir(folder)).length;

			for (let i = 0; i < ROTATIONS; i++) {
				const some = ids.length + 200;
				await until('there is some load', () => ids.length >= some);
				await rotate(signal);
			}
			await stop();
			assert.ok(new Set(ids).size === ids.length && ids.length > ROTATIONS * 200);
			assert.ok((await readdir(folder)).length >= files + ROTATIONS, 'there are as many rotated files');

			const count = async () => {
				const seen = new Map(ids.map((id) => [id, 0]));
				for (const line of await lines()) {
					const { request: id } = JSON.parse(line);
					if (seen.has(id)) {
						seen.set(id, seen.get(id) + 1);
					}
				}
				return [...seen.values()];
			};
			await until('the last lines are written', async () => (await count()).every((n) => n > 0), { every: 500 }).catch(() => {});
			const counted = await count();
			assert.equal(counted.filter((n) => n === 0).length, 0, 'lines are lost');
			assert.ok(counted.every((n) => n === 1));
		});
	});
}

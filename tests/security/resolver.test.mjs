// A resolver that does not answer. libpq would wait for it, and the program too, until its
// watchdog ends it. Requests that need no database must be answered as usual.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { scratch } from '../stack/harness.mjs';
import { openFixture } from '../support/fixture.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { BIN, PROGRAMS } from './deployment.mjs';

const RESOLVER = fileURLToPath(new URL('../support/hanging-resolver.c', import.meta.url));
const WATCHDOG_SECONDS = 11; // UM_LOOP_TURN_S and one more

let fixture;

before(async () => {
	const bin = await scratch('hanging');
	// LD_PRELOAD is a list, which spaces separate; the path of the tree may have one.
	const folder = await mkdtemp(path.join(tmpdir(), 'urlmode-resolver-'));
	after(() => rm(folder, { recursive: true }));
	await chmod(folder, 0o755);
	const library = path.join(folder, 'resolver.so');
	await promisify(execFile)('cc', ['-shared', '-fPIC', '-D_GNU_SOURCE', '-o', library, RESOLVER]);
	await Promise.all(PROGRAMS.map(async (name) => {
		await writeFile(path.join(bin, name), `#!/bin/sh\nLD_PRELOAD=${library} exec '${BIN}/${name}'\n`);
		await chmod(path.join(bin, name), 0o755);
	}));
	fixture = await openFixture({ name: 'resolver', own: true, env: { PROGRAM_DIR: bin } });
	const file = fixture.stack.env.URLMODE_CONFIG;
	const config = JSON.parse(await readFile(file, 'utf8'));
	await writeFile(file, JSON.stringify({ ...config, database_url: config.database_url.replace('127.0.0.1', 'hang.example') }));
	await fixture.stack.service('restart', 'status');
	await fixture.stack.service('restart', 'connect');
});

after(() => fixture?.close());

test('what needs no database is answered at once, and the program goes on', async () => {
	const before = await Promise.all(['status', 'connect'].map((name) => fixture.stack.program(name)));
	const end = performance.now() + (WATCHDOG_SECONDS + 4) * 1_000;

	while (performance.now() < end) {
		for (const [route, status] of [['/done', 200], ['/healthz/live', 200], ['/connect/demo?state=x', 400]]) {
			assert.equal((await request(fixture.url(route), { timeout: 2_000 })).status, status);
		}
		await sleep(200);
	}
	assert.deepEqual(await Promise.all(['status', 'connect'].map((name) => fixture.stack.program(name))), before);
});

test('what needs it gets its 503, and the log says why', async () => {
	const { status, body } = await request(fixture.url('/healthz'), { timeout: 5_000 });

	assert.equal(status, 503);
	assert.equal(JSON.parse(body).database, 'unavailable');
	await until('the log says why', async () => (await fixture.stack.programLog())
		.some(({ notice }) => /^database: no answer in time/.test(notice ?? '')));
});

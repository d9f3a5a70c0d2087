// A run of tests that is killed leaves no process behind, and takes none that is
// not its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { processes } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';

const FOLDER = '/nonexistent/test';
const REAP = fileURLToPath(new URL('../reap', import.meta.url));

function start(t, command, args, mark) {
	const child = spawn(command, args, { detached: true, stdio: 'ignore', env: { ...process.env, TEST_RUN: mark } });
	t.after(() => child.kill('SIGKILL'));
	child.ended = once(child, 'exit');
	return child;
}

/** Its first child that sleeps: it has begun to wait. */
const sleeperOf = ({ pid }) => until('it waits',
	async () => (await processes()).find(({ parent, command }) => parent === pid && command === 'sleep')?.pid);

test('what a killed run has started ends, also in a session of its own and deaf to SIGTERM', async (t) => {
	const mark = `reap-${process.pid}`;
	const run = start(t, 'sleep', ['600'], '');
	const children = [start(t, 'sleep', ['600'], mark), start(t, 'sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], mark)];
	const other = start(t, 'sleep', ['600'], `${mark}-other`);
	const reap = start(t, REAP, [run.pid, mark, FOLDER], mark);
	run.kill('SIGKILL');
	await Promise.all([...children.map(({ ended }) => ended), reap.ended]);
	assert.deepEqual([other.exitCode, other.signalCode], [null, null]);
});

test('so does nginx, which has no environment to see, and another nginx does not', async (t) => {
	const mark = `nginx-${process.pid}`;
	// nginx writes this over its command line and its environment.
	const nginx = (folder) => start(t, 'bash', ['-c', `exec -a 'nginx: master process nginx -e ${folder}/log' sleep 600`], '');
	const run = start(t, 'sleep', ['600'], '');
	const [child, other] = [nginx(`${FOLDER}/stacks/a`), nginx(`${FOLDER}-other/a`)];
	for (const one of [child, other]) {
		await until('it has its title', () => readFileSync(`/proc/${one.pid}/cmdline`, 'utf8').startsWith('nginx'));
	}
	const reap = start(t, REAP, [run.pid, mark, FOLDER], mark);
	run.kill('SIGKILL');
	await Promise.all([child.ended, reap.ended]);
	assert.deepEqual([other.exitCode, other.signalCode], [null, null]);
});

test('a run whose make was killed ends with all that it has started', async (t) => {
	const mark = `make-${process.pid}`;
	// Its name is what tells a make from another parent.
	const make = start(t, 'bash', ['-c', 'printf make >/proc/$$/comm; sleep 600 & wait'], '');
	t.after(() => make.kill('SIGKILL'));
	const run = await sleeperOf(make);
	const child = start(t, 'sleep', ['600'], mark);
	const reap = start(t, REAP, [run, mark, FOLDER], mark);
	await sleeperOf(reap); // it has looked at both
	make.kill('SIGKILL');
	await Promise.all([child.ended, reap.ended]);
	assert.throws(() => process.kill(run, 0), { code: 'ESRCH' });
});

// A run of tests that is killed leaves no process behind, and takes none that is
// not its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { processes } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';

const REAP = fileURLToPath(new URL('../reap', import.meta.url));

function start(t, command, args, mark) {
	const child = spawn(command, args, { detached: true, stdio: 'ignore', env: { ...process.env, TEST_RUN: mark } });
	t.after(() => child.kill('SIGKILL'));
	child.ended = once(child, 'exit');
	return child;
}

const childOf = ({ pid }) => until('it has a child',
	async () => (await processes()).find(({ parent }) => parent === pid)?.pid);

test('what a killed run has started ends, also in a session of its own and deaf to SIGTERM', async (t) => {
	const mark = `reap-${process.pid}`;
	const run = start(t, 'sleep', ['600'], '');
	const children = [start(t, 'sleep', ['600'], mark), start(t, 'sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], mark)];
	const other = start(t, 'sleep', ['600'], `${mark}-other`);
	const reap = start(t, REAP, [run.pid, mark], mark);
	run.kill('SIGKILL');
	await Promise.all([...children.map(({ ended }) => ended), reap.ended]);
	assert.deepEqual([other.exitCode, other.signalCode], [null, null]);
});

test('a run whose make was killed ends with all that it has started', async (t) => {
	const mark = `make-${process.pid}`;
	// Its name is what tells a make from another parent.
	const make = start(t, 'bash', ['-c', 'printf make >/proc/$$/comm; sleep 600 & wait'], '');
	t.after(() => make.kill('SIGKILL'));
	const run = await childOf(make);
	const child = start(t, 'sleep', ['600'], mark);
	const reap = start(t, REAP, [run, mark], mark);
	await childOf(reap); // it has looked at both
	make.kill('SIGKILL');
	await Promise.all([child.ended, reap.ended]);
	assert.throws(() => process.kill(run, 0), { code: 'ESRCH' });
});

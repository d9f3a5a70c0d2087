// A run of tests that is killed leaves no process behind, and takes none that is
// not its own. A run that is told to end does so with all that it has started, and
// there is one run in a tree at a time.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { processes, processOf } from '../support/processes.mjs';
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
	const reap = start(t, REAP, [run.pid, mark, FOLDER], '');
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
	const reap = start(t, REAP, [run.pid, mark, FOLDER], '');
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
	const reap = start(t, REAP, [run, mark, FOLDER], '');
	await sleeperOf(reap); // it has looked at both
	make.kill('SIGKILL');
	await Promise.all([child.ended, reap.ended]);
	assert.equal(await processOf(run), undefined);
});

/** A tree with what tests/run starts: linters, a stack and a test that never end. */
function treeOf(t) {
	const tree = mkdtempSync(join(tmpdir(), 'run-'));
	t.after(() => rmSync(tree, { recursive: true }));
	const write = (path, text) => {
		mkdirSync(join(tree, path, '..'), { recursive: true });
		writeFileSync(join(tree, path), text);
		chmodSync(join(tree, path), 0o755);
	};
	for (const name of ['run', 'reap', 'stack/versions']) {
		cpSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), join(tree, 'tests', name));
	}
	write('Makefile', '%:\n\t@echo $$$$ >>started; exec sleep infinity\n');
	// As a service of a stack: a session of its own, deaf to SIGTERM.
	write('tests/stack/up', `#!/bin/sh
		setsid sh -c 'trap "" TERM; echo $$ >>started; while :; do sleep 1; done' >/dev/null 2>&1 &
		mkdir -p "$RUN_DIR"; : >"$RUN_DIR/env"\n`);
	write('tests/stack/down', '#!/bin/sh\nexit 0\n');
	write(join('lib', 'node', 'test', 'hangs.test.js'), `require('node:fs').appendFileSync('started', process.pid + '\\n');
		setInterval(() => {}, 1000);\n`);
	return tree;
}

// Neither the mark of the run that this test belongs to, nor that of its node:test.
const ENVIRONMENT = { ...process.env, JOBS: 2, TEST_RUN: undefined, NODE_TEST_CONTEXT: undefined };

/** The processes that have written their ids. */
const startedIn = (tree) => {
	try {
		return readFileSync(join(tree, 'started'), 'utf8').split('\n').filter(Boolean).map(Number);
	} catch {
		return [];
	}
};

for (const signal of ['SIGTERM', 'SIGINT']) {
	test(`a run ends at ${signal} with its suites, their stacks and tests, and begins nothing more`, async (t) => {
		const tree = treeOf(t);
		const run = spawn('bash', ['tests/run', 'lint', 'node'],
			{ cwd: tree, stdio: 'ignore', env: ENVIRONMENT });
		t.after(() => run.kill('SIGKILL'));
		const ended = once(run, 'exit');
		await until('a linter, a stack and a test run', () => startedIn(tree).length === 3);
		const there = startedIn(tree);
		run.kill(signal);
		assert.deepEqual(await ended, [130, null]);
		for (const pid of there) {
			assert.equal(await processOf(pid), undefined);
		}
		assert.deepEqual(startedIn(tree), there, 'it has begun nothing more');
	});
}

test('a second run in the same tree says which one is there, and one after it begins', async (t) => {
	const tree = treeOf(t);
	const start = (...args) => {
		const run = spawn('bash', ['tests/run', ...args],
			{ cwd: tree, stdio: ['ignore', 'ignore', 'pipe'], env: ENVIRONMENT });
		t.after(() => run.kill('SIGTERM'));
		run.ended = once(run, 'exit');
		return run;
	};
	const first = start('lint');
	await until('it runs', () => startedIn(tree).length === 1);
	const second = start('stack');
	const said = await second.stderr.toArray();
	assert.deepEqual(await second.ended, [2, null]);
	assert.match(Buffer.concat(said).toString(), new RegExp(`^tests/run: process ${first.pid} runs tests in this tree already`));
	first.kill('SIGTERM');
	await first.ended;
	assert.deepEqual(await start('stack').ended, [1, null], 'it ran, and found no test');
});

test('where no Go of the needed version is, the suite `go` says which one it wants, and a skip fails the run in CI', async (t) => {
	for (const [found, CI, code] of [['printf go1.24.9', undefined, 0], ['exit 127', 'true', 1]]) {
		const tree = treeOf(t);
		mkdirSync(join(tree, 'lib', 'go', 'examples'), { recursive: true });
		writeFileSync(join(tree, 'lib', 'go', 'examples', 'go.mod'), 'module m\n\ngo 1.25.5\n');
		mkdirSync(join(tree, 'bin'));
		writeFileSync(join(tree, 'bin', 'go'), `#!/bin/sh\n${found}\n`, { mode: 0o755 });
		const run = spawn('bash', ['tests/run', 'go'], {
			cwd: tree, stdio: ['ignore', 'pipe', 'inherit'], env: { ...ENVIRONMENT, CI, PATH: `${join(tree, 'bin')}:${process.env.PATH}` },
		});
		t.after(() => run.kill('SIGKILL'));
		const ended = once(run, 'exit');
		const said = Buffer.concat(await run.stdout.toArray()).toString();
		assert.deepEqual(await ended, [code, null], said);
		assert.match(said, /^ {4}skipped: go # SKIP Go 1\.25\.5 or newer is needed \(go in PATH\)$/m);
		assert.match(said, /^0 passed, 0 failed, 1 skipped$/m);
	}
});

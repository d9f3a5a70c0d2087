// A run of tests that is killed or told to end leaves no process behind, in no session
// and no namespace, and takes none that is not its own. There is one run in a tree at a time.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { processes, processOf } from '../support/processes.mjs';
import { until } from '../support/wait.mjs';

const REAP = fileURLToPath(new URL('../reap', import.meta.url));
const UNPRIVILEGED = process.getuid() !== 0;
// As a pod and mmdebstrap do: namespaces of its own, and another user if this one may.
const NAMESPACES = ['unshare', ...UNPRIVILEGED ? ['--user', '--map-root-user'] : [], '--mount', '--pid', '--fork'];
const OTHER_USER = UNPRIVILEGED ? [] : ['setpriv', '--reuid=12345', '--regid=12345', '--clear-groups'];
const has = {
	'a session': (sleep) => `setsid ${sleep} &`,
	'a session without environment, deaf to SIGTERM': (sleep) => `(trap "" TERM; exec setsid env -i ${sleep}) &`,
	'lost its parent': (sleep) => `(${sleep} &)`,
};
// A machine may forbid them; then no test can start such processes, and no run either.
if (spawnSync(NAMESPACES[0], [...NAMESPACES.slice(1), 'true']).status === 0) {
	has.namespaces = (sleep) => `${NAMESPACES.join(' ')} env -i PATH="$PATH" ${OTHER_USER.join(' ')} ${sleep} &`;
	has['namespaces whose parent was killed'] = (sleep) => `${has.namespaces(sleep)} outer=$!
		until inner=($(</proc/$outer/task/$outer/children)); grep -qs sleep "/proc/$inner/comm"; do sleep 0.1; done
		kill -KILL $outer`;
}
const KINDS = Object.keys(has);

/** A time for sleep(1) that nobody else has, by which processes are found in whatever namespace. */
let sleeps = 0;
const aTime = () => `86400.${process.pid}${String(sleeps++).padStart(3, '0')}1`;

/** The processes that sleep for such a time. */
const sleeping = async (time) => (await Promise.all((await processes()).map(async ({ pid, command }) =>
	command === 'sleep' && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(time) && pid))).filter(Boolean);

/** Starts a process of each kind; all sleep for that time. */
const startsAll = (time) => KINDS.map((kind) => has[kind](`sleep ${time}`)).join('\n');

function start(t, command, args, options) {
	const child = spawn(command, args, { detached: true, stdio: 'ignore', ...options });
	t.after(() => child.kill('SIGKILL'));
	child.ended = once(child, 'exit');
	return child;
}

/** The child of a process, its child and the child of that: what one is started for may have ended before the next is looked at. */
const threeOf = (pid) => until('it has a child, which has one, which has one', async () => {
	const all = await processes();
	const family = [pid];
	for (let n = 0; n < 3; n += 1) family.push(all.find(({ parent }) => parent === family[n])?.pid);
	return family.every(Boolean) && family.slice(1);
});

describe('what a command has started ends', { concurrency: true }, () => {
	const ends = {
		'when the command has ended': (first, second, command) => process.kill(command, 'SIGUSR1'),
		'when the command is killed': (first, second, command) => process.kill(command, 'SIGKILL'),
		'when the process that was started is killed': (first) => process.kill(first, 'SIGKILL'),
		'when its child is killed': (first, second) => process.kill(second, 'SIGKILL'),
		'when SIGTERM tells it to end': (first) => process.kill(first, 'SIGTERM'),
		'when its make is killed': (first, second, command, make) => make.kill('SIGKILL'),
	};
	for (const [when, end] of Object.entries(ends)) {
		test(when, async (t) => {
			const time = aTime();
			const other = start(t, 'sleep', ['600']);
			// Its name is what tells a make from another parent.
			const make = start(t, 'bash', ['-c', 'printf make >/proc/$$/comm; "$@" & wait', 'make', REAP, 'bash', '-c',
				`trap "exit 0" USR1\n${startsAll(time)}\nwhile :; do sleep 0.1; done`]);
			await until('all run', async () => (await sleeping(time)).length === KINDS.length);
			const [first, second, command] = await threeOf(make.pid);
			end(first, second, command, make);
			await until('none is left', async () => (await sleeping(time)).length === 0);
			await until('nor who watched', async () => !await processOf(first) && !await processOf(second) && !await processOf(command));
			assert.deepEqual([other.exitCode, other.signalCode], [null, null]);
		});
	}
});

test('a command keeps its exit status, and one that is not there has one', async (t) => {
	for (const [args, code] of [[['sh', '-c', 'exit 3'], 3], [['sh', '-c', 'kill -KILL $$'], 137], [['/nonexistent/command'], 127]]) {
		assert.deepEqual(await start(t, REAP, args).ended, [code, null]);
	}
});

/**
 * A tree with what tests/run starts: linters that never end, and a stack and a test
 * of which the one that MOMENT names does not. Each writes its id, and the
 * stack starts processes of each kind, which sleep for the time of the tree.
 */
function treeOf(t) {
	const tree = mkdtempSync(join(tmpdir(), 'run-'));
	t.after(() => rmSync(tree, { recursive: true }));
	const write = (path, text) => {
		mkdirSync(join(tree, path, '..'), { recursive: true });
		writeFileSync(join(tree, path), text);
		chmodSync(join(tree, path), 0o755);
	};
	for (const name of ['run', 'reap', 'stack/versions', 'support/tap-with-files.mjs']) {
		cpSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), join(tree, 'tests', name));
	}
	write('Makefile', '%:\n\t@echo $$$$ >>started; exec sleep infinity\n');
	write('time', aTime());
	const at = (moment) => `[ "\${MOMENT-}" != ${moment} ] || { echo $$ >>started; exec sleep infinity; }`;
	write('tests/stack/up', `#!/bin/bash
		(\n${startsAll(readFileSync(join(tree, 'time')))}\n) >/dev/null 2>&1
		echo "$TMPDIR" >folder; mkdir -p "$TMPDIR/a/b"
		${at('up')}
		mkdir -p "$RUN_DIR"; : >"$RUN_DIR/env"\n`);
	write('tests/stack/down', `#!/bin/sh\n${at('down')}\n`);
	write(join('lib', 'node', 'test', 'hangs.test.js'), `if (process.env.MOMENT === 'test') {
		require('node:fs').appendFileSync('started', process.pid + '\\n');
		setInterval(() => {}, 1000);
	}\n`);
	return tree;
}

// Neither the run that this test belongs to, nor its node:test.
const ENVIRONMENT = { ...process.env, JOBS: 2, REAPED: undefined, NODE_TEST_CONTEXT: undefined };

/** The processes that have written their ids. */
const startedIn = (tree) => {
	try {
		return readFileSync(join(tree, 'started'), 'utf8').split('\n').filter(Boolean).map(Number);
	} catch {
		return [];
	}
};

describe('a run ends with its suites, their stacks and tests', { concurrency: true }, () => {
	for (const [signal, MOMENT, when] of [
		['SIGTERM', 'up', 'while a stack starts'], ['SIGTERM', 'test', 'while a test runs'], ['SIGINT', 'test', 'while a test runs'],
		['SIGKILL', 'test', 'while a test runs'], ['SIGTERM', 'down', 'while a stack ends'],
	]) {
		test(`at ${signal} ${when}`, async (t) => {
			const tree = treeOf(t);
			const time = readFileSync(join(tree, 'time'), 'utf8');
			const run = spawn('bash', ['tests/run', 'lint', 'node'], { cwd: tree, stdio: 'ignore', env: { ...ENVIRONMENT, MOMENT } });
			t.after(() => run.kill('SIGTERM'));
			const ended = once(run, 'exit');
			await until('a linter and what hangs run', () => startedIn(tree).length === 2);
			await until('so does what the stack has started', async () => (await sleeping(time)).length === KINDS.length);
			const there = startedIn(tree);
			run.kill(signal);
			assert.deepEqual(await ended, signal === 'SIGKILL' ? [null, signal] : [130, null]);
			if (signal === 'SIGKILL') await until('its child has ended all', async () => !await processOf(there[0]) && (await sleeping(time)).length === 0);
			for (const pid of there) assert.equal(await processOf(pid), undefined);
			assert.deepEqual(await sleeping(time), []);
			await until('its temporary files are removed', () => !existsSync(readFileSync(join(tree, 'folder'), 'utf8').trim()));
			if (MOMENT !== 'down') assert.deepEqual(startedIn(tree), there, 'it has begun nothing more');
		});
	}
});

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
	const [, pid] = /^tests\/run: process (\d+) runs tests in this tree already/.exec(Buffer.concat(said));
	process.kill(pid, 'SIGTERM');
	await first.ended;
	assert.equal(await processOf(startedIn(tree)[0]), undefined);
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

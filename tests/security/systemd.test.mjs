// The units in nginx/systemd/: the rating of systemd-analyze, and that the programs never do
// what the units forbid.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { scratch } from '../stack/harness.mjs';
import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { familyOf, isThere } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { BIN, PROGRAMS } from './deployment.mjs';

const UNITS = fileURLToPath(new URL('../../nginx/systemd', import.meta.url));
const SCORE_MAX = 2.0;
/** Programs that share nothing with those of the callback host. */
const ALONE = ['api', 'console'];

const run = promisify(execFile);

let folder;

before(async () => {
	folder = await scratch('systemd');
	await cp(UNITS, folder, { recursive: true });
	for (const name of PROGRAMS) {
		await symlink('urlmode@.service', path.join(folder, `urlmode@${name}.service`));
		await symlink('urlmode@.socket', path.join(folder, `urlmode@${name}.socket`));
	}
	const file = path.join(folder, 'urlmode@.service');
	const text = await readFile(file, 'utf8');
	assert.match(text, /^ExecStart=\/usr\/local\/lib\/urlmode\/%i$/m);
	await writeFile(file, text.replace('/usr/local/lib/urlmode/%i', `"${BIN}/%i"`));
	for (const name of ALONE) {
		const unit = path.join(folder, `urlmode-${name}.service`);
		await writeFile(unit, (await readFile(unit, 'utf8')).replace(`/usr/local/lib/urlmode/${name}`, `"${BIN}/${name}"`));
	}
	for (const name of ['urlmode-purge.service', 'urlmode-jwks.service']) {
		const service = path.join(folder, name);
		await writeFile(service, (await readFile(service, 'utf8')).replace(/^ExecStart=\/usr\/local\/sbin\/urlmode .*$/m, 'ExecStart=/bin/true'));
	}
});

/** `Name=value` lines of a unit, each name with all of its values. */
async function settings(file) {
	const found = new Map();
	for (const line of (await readFile(path.join(UNITS, file), 'utf8')).split('\n')) {
		const [, name, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
		if (name) {
			found.set(name, [...found.get(name) ?? [], value]);
		}
	}
	return found;
}

for (const [name, kind] of [...PROGRAMS.map((program) => [`urlmode@${program}`, 'socket']), ...ALONE.map((name) => [`urlmode-${name}`, 'socket']), ['urlmode-purge', 'timer'], ['urlmode-jwks', 'timer'], ['urlmode-jwks', 'path']]) {
	describe(name, () => {
		const unit = (of) => path.join(folder, `${name}.${of}`);

		test('the exposure is 2.0 or better', async () => {
			const { stdout } = await run('systemd-analyze', ['security', '--no-pager', '--offline=true', unit('service')]);
			const [, score] = /Overall exposure level for .*: ([\d.]+)/.exec(stdout);
			assert.ok(Number(score) <= SCORE_MAX, score);
		});

		test(`systemd-analyze verify finds nothing wrong with the service and the ${kind}`, async () => {
			const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', unit('service'), unit(kind)]);
			assert.equal(stdout + stderr, '');
		});
	});
}

test('the target starts every program, the timers and the path, and none without a configuration', async () => {
	const wants = (await settings('urlmode.target')).get('Wants').flatMap((value) => value.split(' '));
	assert.deepEqual(wants.sort(), [...ALONE.map((name) => `urlmode-${name}.service`), 'urlmode-check.timer', 'urlmode-jwks.path', 'urlmode-jwks.service', 'urlmode-jwks.timer', 'urlmode-purge.timer', ...PROGRAMS.map((name) => `urlmode@${name}.service`)].sort());
	for (const file of ['urlmode@.service', 'urlmode@.socket']) {
		const unit = await settings(file);
		assert.deepEqual([unit.get('PartOf'), unit.get('ConditionPathExists')],
			[['urlmode.target'], ['/etc/urlmode/config.json']]);
	}
});

test('nothing that starts with the host waits for itself: systemd would leave out any of it', async () => {
	const boot = await scratch('systemd-boot');
	await cp(folder, boot, { recursive: true });
	await mkdir(path.join(boot, 'multi-user.target.wants'));
	await symlink('../urlmode.target', path.join(boot, 'multi-user.target.wants/urlmode.target'));
	const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', 'multi-user.target'], { env: { ...process.env, SYSTEMD_UNIT_PATH: `${boot}:/lib/systemd/system` } })
		.catch((error) => error); // of what this machine has beside it
	assert.doesNotMatch(stdout + stderr, /cycle|urlmode/);
});

test('the target is stopped after every program and socket, so that the sockets are free when `systemctl stop` returns', async () => {
	const before = (await settings('urlmode.target')).get('Before').flatMap((value) => value.split(' '));
	assert.deepEqual(before.sort(), [...PROGRAMS.map((name) => `urlmode@${name}`), ...ALONE.map((name) => `urlmode-${name}`)].flatMap((name) => [`${name}.service`, `${name}.socket`]).sort());
});

for (const [name, shares] of [['api', ['']], ['console', ['', '-api']]]) {
	test(`the ${name} has a user, files and a socket of its own, is as hardened as the programs, and starts only where it is set up`, async () => {
		const [service, socket] = await Promise.all(['service', 'socket'].map((kind) => settings(`urlmode-${name}.${kind}`)));
		const program = await settings('urlmode@.service');
		// Everything that is no name of the program is the same, but for the counters, and the limits of open files and of memory.
		const own = ['Description', 'Requires', 'ConditionPathExists', 'User', 'Group', 'Environment', 'ExecStart', 'LogsDirectory', 'RuntimeDirectory', 'RuntimeDirectoryMode',
			'RuntimeDirectoryPreserve', 'LimitNOFILE', 'MemoryMax', 'InaccessiblePaths'];
		for (const setting of new Set([...service.keys(), ...program.keys()])) {
			if (!own.includes(setting)) assert.deepEqual(service.get(setting), program.get(setting), setting);
		}
		const config = `/etc/urlmode-${name}/${name}.json`;
		assert.deepEqual(['User', 'Group', 'ConditionPathExists', 'Environment', 'InaccessiblePaths'].map((setting) => service.get(setting)?.join()), [`urlmode-${name}`, `urlmode-${name}`,
			config, `URLMODE_CONFIG=${config}`, shares.map((with_) => `-/etc/urlmode${with_} -/run/urlmode${with_} -/var/log/urlmode${with_}`).join()]);
		assert.deepEqual(['PartOf', 'ConditionPathExists', 'SocketMode'].map((setting) => socket.get(setting)?.join()), ['urlmode.target', config, '0660']);
		assert.match(await readFile(path.join(UNITS, `../urlmode/${name}-http.conf`), 'utf8'), new RegExp(`unix:${socket.get('ListenStream')[0]};`));
		const text = async (file) => readFile(path.join(UNITS, file), 'utf8');
		assert.match(await text('sysusers.conf'), new RegExp(`^u urlmode-${name} - `, 'm'));
		assert.match(await text('tmpfiles.conf'), new RegExp(`^d /etc/urlmode-${name} 0750 root urlmode-${name}$`, 'm'));
	});
}

test('each socket is where nginx looks for it', async () => {
	const [address] = (await settings('urlmode@.socket')).get('ListenStream');
	const upstreams = await readFile(path.join(UNITS, '../urlmode/upstreams.conf'), 'utf8');
	for (const name of PROGRAMS) {
		assert.ok(upstreams.includes(`unix:${address.replace('%i', name)};`), name);
	}
});

/** The system calls that the service's filter lets through. */
async function allowedCalls() {
	const { stdout } = await run('systemd-analyze', ['--no-pager', 'syscall-filter']);
	const groups = new Map();
	let current;
	for (const line of stdout.split('\n')) {
		const word = line.replace(/#.*/, '').trim();
		if (/^@/.test(line)) {
			groups.set(word, current = []);
		} else if (word) {
			current?.push(word);
		}
	}
	const expand = (name) => (name.startsWith('@') ? (groups.get(name) ?? []).flatMap(expand) : [name]);
	const service = await settings('urlmode@.service');
	const allowed = new Set();
	for (const value of service.get('SystemCallFilter')) {
		for (const name of value.replace(/^~/, '').split(' ').flatMap(expand)) {
			(value.startsWith('~') ? allowed.delete(name) : allowed.add(name));
		}
	}
	return allowed;
}

describe('the system calls of the programs, from their start to their end', { skip: untraceable() }, () => {
	let fixture;
	let calls; // [name, arguments] of each system call
	let processes;

	before(async () => {
		const bin = await scratch('traced');
		await Promise.all(PROGRAMS.map(async (name) => {
			await writeFile(path.join(bin, name), `#!/bin/sh\nexec strace -f -qq -I 2 -o "$RUN_DIR/tmp/trace.${name}.$$" "${BIN}/${name}"\n`);
			await chmod(path.join(bin, name), 0o755);
		}));
		fixture = await openFixture({ name: 'systemd', own: true, env: { PROGRAM_DIR: bin } });
		await everything();
		const names = (await readdir(path.join(fixture.stack.runDir, 'tmp'))).filter((name) => name.startsWith('trace.'));
		assert.ok(names.length >= PROGRAMS.length);
		const texts = await Promise.all(names.map((name) => readFile(path.join(fixture.stack.runDir, 'tmp', name), 'latin1')));
		processes = texts.length;
		calls = texts.flatMap((text) => {
			// From where the program itself begins: strace's own start is before that.
			const lines = text.split('\n');
			return lines.slice(lines.findIndex((line) => line.includes('execve(')) + 1);
		}).map((line) => /^(?:\d+ +)?([a-z_0-9]+)\((.*)$/.exec(line)).filter(Boolean).map(([, name, rest]) => [name, rest]);
	});

	after(() => fixture?.close());

	/** A flow, a refusal, new keys, a database that comes back, the end. */
	async function everything() {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		await comeBack(browser, flow.returnTo({ code: 'c' }));
		await request(fixture.url('/connect/nobody'));
		for (const page of ['/done', '/healthz', '/metrics']) {
			await request(fixture.url(page));
		}
		await signal('SIGHUP');
		await fixture.stack.service('restart', 'postgres');
		await until('the database is back', async () => (await request(fixture.url('/healthz'))).status === 200);
		await fixture.goOn(fixture.browser());
		const ended = await signal('SIGTERM');
		await until('they have ended', async () => !(await Promise.all(ended.map(isThere))).includes(true));
	}

	/** To the programs themselves, beneath what traces them. */
	async function signal(name) {
		const families = await Promise.all(PROGRAMS.map(async (program) => familyOf(await fixture.stack.pid(program))));
		const programs = families.flat().filter(({ command }) => PROGRAMS.includes(command));
		assert.equal(programs.length, PROGRAMS.length);
		programs.forEach(({ pid }) => process.kill(pid, name));
		return programs;
	}

	test('they make no system call that the filter stops', async () => {
		const allowed = await allowedCalls();
		assert.ok(allowed.size > 100);
		// They set a limit that the unit has set already, and go on without.
		const mayFail = ['prlimit64', 'setrlimit'];
		const stopped = [...new Set(calls.map(([name]) => name))].filter((name) => !allowed.has(name) && !mayFail.includes(name));
		assert.deepEqual(stopped, []);
	});

	test('they use no other network than the units allow', () => {
		const families = new Set(calls.filter(([name]) => name === 'socket').map(([, rest]) => rest.split(',')[0]));
		// glibc asks the kernel for this machine's addresses, and goes on without.
		families.delete('AF_NETLINK');
		for (const family of families) {
			assert.ok(['AF_UNIX', 'AF_INET', 'AF_INET6'].includes(family), family);
		}
		assert.equal(calls.filter(([name]) => name === 'bind' || name === 'listen').filter(([, rest]) => !rest.includes('AF_NETLINK')).length, 0);
	});

	test('they write into no file but the counters', () => {
		const written = calls.filter(([name, rest]) => /^open(at)?$/.test(name) && /O_(WRONLY|RDWR|CREAT)/.test(rest))
			.map(([, rest]) => /"([^"]*)"/.exec(rest)?.[1]).filter((name) => name !== '/dev/null');
		// A process that was started at the end may not have come to it.
		assert.ok(written.length >= PROGRAMS.length && written.length <= processes, `${written.length} of ${processes}`);
		// Of a process that cannot dump core, strace reads no names, unless it is root.
		for (const name of written.filter((each) => each !== undefined)) {
			assert.match(path.relative(fixture.stack.runDir, name), /^metrics\.[0-9a-f]{8}$/);
		}
	});

	test('they map nothing that can be both written and executed, and start no other program', () => {
		assert.equal(calls.filter(([name, rest]) => /^(mmap|mprotect)$/.test(name) && /PROT_WRITE\|PROT_EXEC/.test(rest)).length, 0);
		assert.equal(calls.filter(([name]) => /^(execve|execveat|fork|vfork)$/.test(name)).length, 0);
	});
});

/** Why strace cannot run, where that is so: some containers forbid it. */
function untraceable() {
	const { status, stderr } = spawnSync('strace', ['-qq', '-o', '/dev/null', 'true'], { encoding: 'utf8' });
	return status !== 0 && `strace does not work here: ${stderr.trim()}`;
}

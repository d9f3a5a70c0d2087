// The hardening of the programs by compiler and linker, and that a crash leaves no core dump.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { isThere } from '../support/processes.mjs';
import { openFixture } from '../support/fixture.mjs';
import { until } from '../support/wait.mjs';
import { BIN, PROGRAMS } from './deployment.mjs';

// The flags of Debian's own hardening that are the processor's.
const BRANCHES = { x64: ['-fcf-protection'], arm64: ['-mbranch-protection=standard'] }[process.arch] ?? [];

async function readelf(name, ...options) {
	const { stdout } = await promisify(execFile)('readelf', ['--wide', ...options, path.join(BIN, name)], { maxBuffer: 1 << 28 });
	return stdout;
}

for (const name of PROGRAMS) {
	describe(name, () => {
		let header;
		let segments;
		let dynamic;
		let symbols;

		before(async () => {
			[header, segments, dynamic, symbols] = await Promise.all([
				readelf(name, '--file-header'), readelf(name, '--segments'), readelf(name, '--dynamic'), readelf(name, '--dyn-syms')]);
		});

		const flagsOf = (type) => segments.split('\n').filter((line) => line.trim().startsWith(`${type} `))
			.map((line) => /0x[0-9a-f]+ ([RWE ]{3}) 0x[0-9a-f]+\s*$/.exec(line)?.[1]);

		test('is a position-independent executable', () => {
			assert.match(header, /Type:\s+DYN/);
			assert.match(dynamic, /FLAGS_1.*\bPIE\b/);
		});

		test('binds everything at start, and has its tables read-only then (full RELRO)', () => {
			assert.equal(flagsOf('GNU_RELRO').length, 1);
			assert.match(dynamic, /\(FLAGS\).*\bBIND_NOW\b|\(BIND_NOW\)/);
			assert.match(dynamic, /FLAGS_1.*\bNOW\b/);
		});

		test('has no memory that is both written and executed, nor a stack that is', () => {
			assert.deepEqual(flagsOf('GNU_STACK'), ['RW ']);
			assert.ok(flagsOf('LOAD').length > 0);
			assert.ok(flagsOf('LOAD').every((flags) => flags !== undefined && !/W.*E/.test(flags)), flagsOf('LOAD').join());
		});

		test('is protected against overwritten stacks', () => {
			assert.match(symbols, /UND __stack_chk_fail@/);
		});

		test('calls the checked variants of the C library (_FORTIFY_SOURCE)', () => {
			const checked = [...symbols.matchAll(/UND (__\w+_chk)@/g)].map(([, symbol]) => symbol);
			assert.ok(checked.length >= 3, checked.join());
			// Those that the compiler never takes the check from again because it can see that the size is right.
			for (const unchecked of ['printf', 'fprintf', 'sprintf', 'vsnprintf', 'asprintf', 'vasprintf']) {
				assert.doesNotMatch(symbols, new RegExp(`UND ${unchecked}@`));
			}
		});

		test('looks for libraries nowhere but where the system has them', () => {
			assert.doesNotMatch(dynamic, /\(R(UN)?PATH\)/);
		});

		test('hands out no function of its own', () => {
			assert.doesNotMatch(symbols, /\d+: [0-9a-f]+ +\d+ FUNC +GLOBAL +DEFAULT +\d+ um_/);
		});

		test('every file of it was compiled so: stack protector, stack clash protection, PIE, watched branches', async () => {
			const info = await readelf(name, '--debug-dump=info');
			const producers = [...info.matchAll(/DW_AT_producer\s*: (.*)/g)].map(([, text]) => text.replace(/^\(.*?\): /, ''));
			assert.ok(producers.length > 10, `${producers.length} files`);
			for (const producer of producers.filter((text) => text.startsWith('GNU C'))) {
				for (const flag of ['-fstack-protector-strong', '-fstack-clash-protection', '-fPIE', '-fvisibility=hidden', ...BRANCHES]) {
					assert.ok(producer.includes(flag), `${flag} in ${producer}`);
				}
			}
		});
	});
}

// The linker marks a program only if all that it is linked of has the mark, and the C library's own start of a program has none in Debian 12.
async function marks() {
	const { stdout: file } = await promisify(execFile)('cc', ['-print-file-name=Scrt1.o']);
	const { stdout } = await promisify(execFile)('readelf', ['--notes', file.trim()]);
	return /x86 feature: IBT, SHSTK/.test(stdout);
}

test("Debian's hardening-check misses nothing", async () => {
	const files = [...PROGRAMS.map((name) => path.join(BIN, name)), path.join(BIN, '../libexec/operate')];
	const { stdout } = await promisify(execFile)('hardening-check', [...await marks() ? [] : ['--nocfprotection'], ...files]).catch((error) => error);
	assert.deepEqual(stdout.match(/^\/.*:$/gm), files.map((file) => `${file}:`));
	assert.doesNotMatch(stdout, /: no, (?!not found! \(ignored\))/, stdout);
	assert.equal(stdout.match(/^ (Position Independent Executable|Stack protected|Fortify Source functions|Read-only relocations|Immediate binding): yes/gm).length, 5 * files.length);
});

test('the flags stand in one place, and no file is left out', () => {
	const makefile = readFileSync(new URL('../../Makefile', import.meta.url), 'utf8');
	for (const flag of ['-fstack-protector-strong', '-fstack-clash-protection', '-fPIE', '-pie', '-Wl,-z,relro,-z,now,-z,noexecstack', '-D_FORTIFY_SOURCE=']) {
		assert.equal(makefile.split(flag).length, 2, `${flag} once`);
	}
});

test('what is secret is compared in constant time', async () => {
	for (const [object, compares] of Object.entries({ 'crypto/link': true, 'crypto/token': true, 'crypto/ticket': false,
		'crypto/envelope': false, 'crypto/sealed_text': false, 'app/session': false, 'app/signin': true, 'webhook/verifier': true })) {
		const { stdout } = await promisify(execFile)('nm', ['--undefined-only', path.join(BIN, `../obj/lib/${object}.o`)]);
		assert.equal(/\bCRYPTO_memcmp$/m.test(stdout), compares, object);
		assert.doesNotMatch(stdout, /\b(mem|b|str|strn|strcase|strncase)cmp$/m, object);
	}
	// Its file has names as well, which are no secret.
	for (const name of ['um_api_keys_find', 'um_api_keys_has']) {
		const { stdout } = await promisify(execFile)('objdump', ['-dr', `--disassemble=${name}`, path.join(BIN, '../obj/lib/api/api_keys.o')]);
		assert.match(stdout, /\bCRYPTO_memcmp\b/, name);
		assert.doesNotMatch(stdout, /\b(mem|b|strn)cmp\b/, name);
	}
});

describe('a crash', () => {
	let fixture;

	before(async () => {
		fixture = await openFixture({ name: 'hardening', own: true });
	});

	after(() => fixture?.close());

	test('leaves no core: not on the disk, and none to a handler that the kernel would pipe it to', async () => {
		for (const name of PROGRAMS) {
			const before = await fixture.stack.program(name);
			const limits = await readFile(`/proc/${before.pid}/limits`, 'utf8');
			// core(5): a handler behind a pipe ignores 0, but not 1. Where the hard limit was 0,
			// the process is undumpable, and root owns its files in /proc.
			if (!/^Max core file size +1 +1 +bytes/m.test(limits)) {
				assert.match(limits, /^Max core file size +0 +0 +bytes/m);
				assert.equal((await stat(`/proc/${before.pid}/environ`)).uid, 0);
			}

			process.kill(before.pid, 'SIGSEGV');
			await until('it has crashed', async () => !await isThere(before));
			await until('another serves', () => fixture.stack.program(name));
		}
		assert.deepEqual(readdirSync(fixture.stack.runDir).filter((name) => /^core/.test(name)), []);
	});
});

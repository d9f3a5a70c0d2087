// A copy of the tree, in which one file is changed at a time, and the tests that run there.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { filesIn, languageOf, read, ROOT } from './tests.mjs';

const OUT = join(ROOT, 'build/mutants');
/** A test that takes as many times as long as without a mistake has found it. */
const PATIENCE = 6;
const PATIENCE_MIN_MS = 20_000;
const PATIENCE_MAX_MS = 300_000;
/** These put functions of their own in the place of others: make knows how they are linked. */
const LINKED_BY_MAKE = ['test_connections', 'test_wipe', 'test_main', 'test_resolve', 'test_store_send'];
/** For the changed file alone: the functions of libc that others call are watched as well. */
const SANITIZE = '-fsanitize=address,undefined -fno-sanitize-recover=all';
const MAKE = ['-s', `PROVIDERS_DIR=${ROOT}lib/providers`];
const LIBRARIES = '-lfcgi $(pkg-config --libs libpq jansson libcrypto) -lm -lcmocka';

/** Tests of the programs start a stack of their own, with those of the copy. */
const OWN_STACK = Object.fromEntries(Object.keys(process.env).filter((name) => /^(?:URLMODE_|RUN_DIR$|PROGRAM_DIR$|OPERATE$)/.test(name)).map((name) => [name, undefined]));
const ofPrograms = (test, file) => test.endsWith('.mjs') && file !== undefined && languageOf(file) === 'c';
const envOf = (test, file) => (ofPrograms(test, file) ? OWN_STACK : {});
const keyOf = (test, file) => `${test} ${ofPrograms(test, file)}`;

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export class Tree {
	#folder = join(OUT, `tree-${process.pid}`);
	/** @type {Map<string, Promise<{ passes: boolean, took: number, covers?: Map<string, object[]> }>>} what each test does without a mistake */
	#known = new Map();
	/** What the last test that failed says. */
	#failure = '';
	/** Ends what runs at this moment. */
	#stop = () => {};
	/** Whether make has put a mistake into the library. */
	#isSpoilt = false;
	#flags = readFileSync(join(ROOT, 'build/flags'), 'utf8').trim();
	/** What every C test is linked with, if the linker needs it. */
	#helpers = filesIn('tests/unit', '.c').filter((file) => !basename(file).startsWith('test_')).map((file) => `build/obj/${file.replace(/c$/, 'o')}`);

	/** What runs the files of tests/sql. */
	#sqlFiles;

	constructor(sqlFiles) {
		this.#sqlFiles = sqlFiles;
		mkdirSync(this.#folder, { recursive: true });
		execFileSync('sh', ['-c', 'git ls-files -z | tar --null -T - -cf - | tar -xf - -C "$1"', 'sh', this.#folder], { cwd: ROOT });
		// What is built of C is as good for the copy.
		for (const built of ['obj', 'unit', 'texts', 'bin', 'libexec', 'together', 'deliveries', 'liburlmode.a', 'flags']) {
			if (existsSync(join(ROOT, 'build', built))) cpSync(join(ROOT, 'build', built), join(this.#folder, 'build', built), { recursive: true, preserveTimestamps: true });
		}
		for (const folder of ['tests', 'lib/node']) {
			const modules = join(ROOT, folder, 'node_modules');
			mkdirSync(join(this.#folder, folder, 'node_modules'));
			// The package urlmode itself is a link beside them.
			for (const name of existsSync(modules) ? readdirSync(modules) : []) {
				symlinkSync(name === 'urlmode' ? '../../lib/node' : join(modules, name), join(this.#folder, folder, 'node_modules', name));
			}
		}
	}

	/** Also ends the test that runs in it. */
	remove() {
		this.#stop();
		this.#stopStacks();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	/** A test that is killed leaves the stacks that it has started. */
	#stopStacks() {
		const stacks = join(this.#folder, 'build/test/stacks');
		for (const name of existsSync(stacks) ? readdirSync(stacks) : []) {
			spawnSync(join(this.#folder, 'tests/stack/down'), { env: { ...process.env, RUN_DIR: join(stacks, name) }, timeout: PATIENCE_MIN_MS });
		}
	}

	write(file, text) {
		writeFileSync(join(this.#folder, file), text);
	}

	/** Builds the library and the programs without the mistake that make has put into them; the tree must have none. */
	async mend() {
		if (!this.#isSpoilt) return;
		await this.#build();
		this.#isSpoilt = false;
	}

	async #build() {
		this.#isSpoilt = true;
		if (!await this.#passes('make', [...MAKE, 'build'])) throw new Error('the programs cannot be built');
	}

	/** Whether the file still compiles: what does not is no mistake that anybody would commit. */
	compiles(file, flags = '') {
		if (languageOf(file) === 'js') return this.#passes('node', ['--check', file]);
		return this.#passes('sh', ['-c', `${this.#flags} -O1 ${flags} -Wno-format-truncation -c -o build/changed.o ${quote(file)}`]);
	}

	/** What the test of a file does without a mistake; the tree must have none if it is not known yet. */
	known(test, file) {
		const key = keyOf(test, file);
		if (!this.#known.has(key)) this.#known.set(key, this.#learn(test, file));
		return this.#known.get(key);
	}

	isKnown(test, file) {
		return this.#known.has(keyOf(test, file));
	}

	async #learn(test, file) {
		const begin = performance.now();
		const folder = mkdtempSync(join(OUT, 'coverage-'));
		const isCounted = /^lib\/.*\.js$|^tests\/waiting\//.test(test);
		const env = { ...envOf(test, file), ...isCounted && { NODE_V8_COVERAGE: folder } };
		const run = () => this.#run(test, undefined, { ms: PATIENCE_MAX_MS, env });
		// A second time, because one that fails on a busy machine would find no mistake in the whole run.
		let passes = await run();
		const failure = this.#failure;
		passes ||= await run();
		const covers = isCounted ? this.#readCoverage(folder) : undefined;
		rmSync(folder, { recursive: true });
		if (!passes) console.log(`left out   ${test}, which fails without a mistake: ${failure}, and then ${this.#failure}`);
		return { passes, took: performance.now() - begin, covers };
	}

	/** The ranges of each file that was loaded, and how often each was run. */
	#readCoverage(folder) {
		const all = new Map();
		for (const name of readdirSync(folder)) {
			for (const { url, functions } of JSON.parse(readFileSync(join(folder, name), 'utf8')).result) {
				all.set(url, [...(all.get(url) ?? []), functions.flatMap(({ ranges }) => ranges)]);
			}
		}
		return all;
	}

	/** Whether a test that is known runs the place of this mistake. */
	async covers(test, file, mistake) {
		const { covers } = await this.known(test, file);
		if (!covers || !file.endsWith('.js')) return true;
		// V8 counts the right side of these from the operator on. The operator is run where the left side is.
		const isLogical = ['||', '&&', '??'].includes(mistake.before);
		const at = isLogical ? read(file).slice(0, mistake.at).trimEnd().length - 1 : mistake.at;
		const runs = covers.get(pathToFileURL(join(this.#folder, file)).href) ?? [];
		return runs.some((ranges) => {
			const inside = ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset);
			const inner = inside.reduce((one, other) => (one.endOffset - one.startOffset <= other.endOffset - other.startOffset ? one : other), inside[0]);
			return inner?.count > 0;
		});
	}

	/** Whether a test passes, with this file changed. */
	async passes(test, file) {
		const { took } = await this.known(test, file);
		return this.#run(test, file, { ms: Math.min(Math.max(PATIENCE * took, PATIENCE_MIN_MS), PATIENCE_MAX_MS), env: envOf(test, file) });
	}

	/** Whether a C test passes with AddressSanitizer, its search for leaks, and UndefinedBehaviorSanitizer in this file. */
	async passesSanitized(test, file) {
		return ofPrograms(test, file) || this.#isLinkedByMake(test, file)
			|| !await this.compiles(file, SANITIZE) || this.#run(test, file, { ms: PATIENCE_MAX_MS, flags: SANITIZE });
	}

	/** The objects that are there were made with the name of the tree's folder. */
	#isLinkedByMake(test, file) {
		return LINKED_BY_MAKE.includes(basename(test, '.c')) || file !== undefined && (!file.startsWith('lib/') || read(test).includes(`/${file}"`));
	}

	async #run(test, file, options) {
		if (test.endsWith('.sql')) return this.#sqlFiles.passes(basename(test, '.sql'), options.ms);
		if (!test.endsWith('.c')) {
			if (ofPrograms(test, file)) await this.#build();
			const passes = await this.#passes('node', ['--test-reporter=tap', test], options);
			if (!passes) this.#stopStacks();
			return passes;
		}
		const name = basename(test, '.c');
		const objects = name === 'units' ? 'build/obj/tests/tools/units.o build/together/*.o' : `build/obj/tests/unit/${name}.o`;
		const byMake = this.#isLinkedByMake(test, file);
		this.#isSpoilt ||= byMake && file !== undefined;
		const linked = byMake ? await this.#passes('make', [...MAKE, `build/unit/${name}`])
			// The changed object stands before the library, so that the linker takes it.
			: await this.#passes('sh', ['-c', `cc -pie ${options.flags ?? ''} -o build/changed ${objects} ${this.#helpers.join(' ')} ${
				file === undefined ? '' : 'build/changed.o'} build/liburlmode.a ${LIBRARIES}`]);
		if (!linked) throw new Error(`${test} cannot be linked`);
		// test_fastcgi_wipe looks into its own memory, which is laid out otherwise here.
		if (name === 'units') return this.#passes('sh', ['-c', 'build/changed $(build/changed | grep -vx test_fastcgi_wipe)'], options);
		return this.#passes(byMake ? `build/unit/${name}` : 'build/changed', [], options);
	}

	/** @returns {Promise<boolean>} whether it ended well, in time */
	#passes(program, args, { ms = PATIENCE_MAX_MS, env = {} } = {}) {
		const child = spawn(program, args, { cwd: this.#folder, env: { ...process.env, SIDE: 'node', ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
		const stop = () => {
			try {
				process.kill(-child.pid, 'SIGKILL');
			} catch {
				// It has ended.
			}
		};
		this.#stop = stop;
		child.stderr.resume();
		const timer = setTimeout(stop, ms);
		// The first test that fails is enough.
		this.#failure = 'it does not end well, or in time';
		child.stdout.on('data', (data) => {
			const failed = /^ *not ok .*/m.exec(data);
			if (!failed) return;
			this.#failure = failed[0].trim();
			stop();
		});
		return new Promise((resolve) => child.once('exit', (code) => {
			clearTimeout(timer);
			this.#stop = () => {};
			resolve(code === 0);
		}));
	}
}

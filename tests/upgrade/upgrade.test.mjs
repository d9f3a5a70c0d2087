// A database of each version of before becomes one of today while that version works on it, and the version goes on with it: the
// packages for Node and Python, and the programs, which are built for it, with the api and the console. What is in the archives
// beside this file is written by `record`.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import pg from 'pg';

import { ROOT, scratch } from '../stack/harness.mjs';
import { Browser } from '../support/browser.mjs';
import { catalog, comments } from '../support/catalog.mjs';
import { Console } from '../support/console.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { comeBack, create, goOn } from '../support/flow.mjs';
import { changed, signatures } from '../support/functions.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';
import { openHttp, openNode, openPython } from './sides.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const RECORDS = (await readdir(HERE)).filter((file) => file.endsWith('.tar.xz')).map((file) => file.slice(0, -'.tar.xz'.length)).sort();
/** Which files of tables were changed after databases had them, and by which one such a database gets the rest. */
const CORRECTED = { '049_console.sql': '060_before.sql' };
/** Which functions were changed after packages called them, so that these calls go on. */
const WIDENED = ['end_task', 'leader', 'read_task'];
const PROGRAMS = ['api', 'connect', 'console', 'oauth-return', 'payment-return', 'status', 'webhook'];
const PRICE = { amount: 1050, currency: 'EUR' };
/** That of an account ends when it begins: nothing is kept for the next call. */
const CLAIMED = ['begun', false, false];
/** For as long as a busy machine needs. */
const LONG = { timeout: 600_000 };

const run = async (cwd, env, program, ...given) => (await promisify(execFile)(program, given, { cwd, env, maxBuffer: 1 << 26 })).stdout;
const plain = { ...process.env };
for (const name of ['MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'NODE_TEST_CONTEXT']) delete plain[name];

/** The folder with what was recorded of a version. What was unpacked and built of the same archive stays. */
async function unpacked(name) {
	const archive = path.join(HERE, `${name}.tar.xz`);
	const tree = path.join(ROOT, 'build/upgrade', `${name}-${createHash('sha256').update(await readFile(archive)).digest('hex').slice(0, 12)}`);
	if (!existsSync(path.join(tree, 'lib/node/node_modules'))) {
		await mkdir(tree, { recursive: true });
		await run(tree, plain, 'tar', '-xJf', archive);
		await symlink(path.join(ROOT, 'lib/node/node_modules'), path.join(tree, 'lib/node/node_modules'));
	}
	return tree;
}

/** The paths below a folder, but those of links. */
const filesOf = async (tree) => (await readdir(tree, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
	.map((entry) => path.relative(tree, path.join(entry.parentPath, entry.name)));

const programsOf = (tree) => (existsSync(path.join(tree, 'cgi-bin')) ? PROGRAMS : []);

/** What the packages of a version call: their statements in Node, which are those of the other languages. */
async function statements(tree) {
	const files = (await filesOf(path.join(tree, 'lib/node/src'))).filter((file) => /contract-(calls|claims|ledger|money|rechecks|tasks)\.js$/.test(file));
	const texts = await Promise.all(files.map((file) => readFile(path.join(tree, 'lib/node/src', file), 'utf8')));
	const found = texts.flatMap((text) => [...text.matchAll(/^const \w+ = (?:'([^']*)'|`([^`]*)`);$/gm)].map(([, a, b]) => a ?? b)).filter((text) => text.includes('urlmode.'));
	assert.ok(found.length > 30, `${found.length} statements`);
	return found;
}

let fixture;
let folder;

before(async () => {
	folder = await scratch('upgrade');
	await mkdir(path.join(folder, 'now'));
	await symlink(path.join(ROOT, 'build/bin'), path.join(folder, 'now/bin'));
	await symlink(path.join(ROOT, 'lib/providers'), path.join(folder, 'now/providers'));
	await symlink('now', path.join(folder, 'current'));
	fixture = await openFixture({ name: 'upgrade', own: true, env: { PROGRAM_DIR: path.join(folder, 'current/bin'), API: '1', CONSOLE: '1' } });
});

after(() => fixture?.close());

const databaseOf = (variable, name) => Object.assign(new URL(fixture.stack.env[variable]), { pathname: `/${name}` }).href;

/** A new database of the cluster with this sql/: the variables that lead to it, and a connection of the administrator. */
async function migrated(name, sql) {
	await fixture.stack.sql(`CREATE DATABASE "${name}"`);
	const env = { ...fixture.stack.env };
	for (const variable of Object.keys(env).filter((each) => each.endsWith('DATABASE_URL'))) env[variable] = databaseOf(variable, name);
	await migrate(env, sql, '--frameworks');
	const client = new pg.Client({ connectionString: env.URLMODE_ADMIN_DATABASE_URL });
	await client.connect();
	fixture.closeAtEnd({ close: () => client.end() });
	return { env, query: async (...args) => (await client.query(...args)).rows };
}

const migrate = async (env, sql, ...options) => (await run(sql, { ...plain, ...env }, './migrate', ...options)).split('\n').filter(Boolean);

/** Everything that a migration makes, with what is said of it. */
const schema = async (database) => [...await catalog(database), ...await comments(database)];

/** The programs and descriptions of one version take the place of the others', at the same sockets. */
async function use(which) {
	await symlink(which, path.join(folder, 'next'));
	await rename(path.join(folder, 'next'), path.join(folder, 'current'));
	for (const name of PROGRAMS) {
		const gone = await until(`${name} runs`, () => fixture.stack.program(name), LONG);
		process.kill(gone.pid);
		await until(`another ${name} runs`, async () => {
			const now = await fixture.stack.program(name);
			return now && (now.pid !== gone.pid || now.started !== gone.started);
		}, LONG);
	}
}

/** The version that the programs say. */
const running = async () => /^urlmode_build_info\{version="(.*?)"\}/m.exec((await request(fixture.url('/metrics'))).body)?.[1];

/** What a call is told that a migration has ended or kept waiting. It has changed nothing, and whoever made it makes it again. */
const IS_ENDED = /deadlock detected|lock timeout|answered 503|ended with 503/;

/** Users who come one after the other, until they are told to stop. */
class Load {
	#loops = [];
	#counts = [];
	#stopped = false;
	/** how often a call was ended by a migration while one ran */
	ended = 0;
	/** whether one runs */
	isMigrating = false;

	/** @param {() => Promise<void>} walk */
	add(what, walk) {
		const at = this.#counts.push(0) - 1;
		this.#loops.push((async () => {
			while (!this.#stopped) {
				await walk().then(() => { this.#counts[at]++; }, (error) => {
					if (!this.isMigrating || !IS_ENDED.test(error.message)) throw error;
					this.ended++;
				});
			}
		})().catch((error) => {
			this.#stopped = true;
			throw Object.assign(new Error(`${what}: ${error.message}`, { cause: error }));
		}));
		this.#loops.at(-1).catch(() => {});
	}

	/** Until each of them has come again twice, one of whom began after this. */
	async more() {
		const enough = this.#counts.map((count) => count + 2);
		await until('everybody came again', () => this.#stopped || enough.every((count, at) => this.#counts[at] >= count), LONG);
		if (this.#stopped) await this.stop();
	}

	/** Rejects with what has failed. @returns how many came */
	async stop() {
		this.#stopped = true;
		await Promise.all(this.#loops);
		return this.#counts.reduce((sum, count) => sum + count, 0);
	}
}

/** What is awaited only later may fail before, with what else fails. */
function waiting(side, { id, owner }) {
	const outcome = side.wait(id, owner);
	outcome.catch(() => {});
	return outcome;
}

/** A user who connects an account in a browser, or a server that learns of it elsewhere; and a call that claims it. */
async function connect(side, throughPrograms) {
	if (throughPrograms) {
		const browser = new Browser({ timeout: LONG.timeout });
		const flow = await goOn(side, browser, { issuer: fixture.stack.env.URLMODE_DEMO_ISSUER });
		const waits = waiting(side, flow);
		const hop = await comeBack(browser, flow.returnTo({ code: 'the code' }));
		assert.equal(hop.status, 303, `the return ended with ${hop.status}`);
		const { action, result } = await waits;
		assert.deepEqual([action, result.code], ['accept', 'the code']);
		await browser.close();
		assert.deepEqual(await side.deliver(flow.id, flow.owner), CLAIMED);
	} else {
		const { id, owner } = await create(side);
		const waits = waiting(side, { id, owner });
		assert.equal(await side.complete(id, owner, { action: 'accept', result: { code: 'the code' } }), true);
		const { action, result } = await waits;
		assert.deepEqual([action, result], ['accept', { code: 'the code' }]);
		assert.deepEqual(await side.deliver(id, owner), CLAIMED);
	}
}

/** The same with a payment, which the webhook of the provider proves. */
async function pay(side, stripe) {
	const { id, owner } = await create(side, { provider: 'stripe', kind: 'payment', expected: PRICE });
	const waits = waiting(side, { id, owner });
	const reference = `pi_${randomUUID()}`;
	if (stripe) {
		const { status } = await stripe.send(stripe.event(id, 'paid', PRICE));
		assert.equal(status, 200, `the webhook answered ${status}`);
	} else assert.equal(await side.complete(id, owner, { action: 'accept', reference, ...PRICE }), true);
	const outcome = await waits;
	assert.deepEqual([outcome.action, outcome.amount], ['accept', PRICE.amount]);
	assert.deepEqual(await side.deliver(id, owner), ['begun', true, true]);
}

/** An operator looks for it. */
async function look(side, console) {
	const { id } = await create(side);
	for (const page of ['/console/', '/console/list?what=undelivered', `/console/elicitation?id=${id}`]) {
		const { status, text } = await console.ask(page);
		assert.equal(status, 200, `the console answered ${status}`);
		assert.ok(!page.includes(id) || text.includes(id), page);
	}
}

/** A program of the stack uses this database when it starts again. */
async function useDatabase(file, url, more = {}) {
	await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), database_url: url, ...more }));
}

test('there is a record of each release', async () => {
	// That of this commit cannot be in it.
	const tags = (await run(ROOT, plain, 'git', 'tag', '--list', 'v*', '--no-contains', 'HEAD').catch(() => '')).split('\n').filter(Boolean);
	assert.deepEqual(tags.filter((tag) => !RECORDS.includes(tag)), [], 'tests/upgrade/record TAG');
	assert.ok(RECORDS.length > 0);
});

for (const name of RECORDS) {
	describe(`a database of ${name}`, () => {
		let tree;

		before(async () => {
			tree = await unpacked(name);
		});

		test('the record is what git has of it, where git has it', async (t) => {
			const listed = await run(ROOT, plain, 'git', 'ls-tree', '-r', '-z', name).catch(() => undefined);
			if (listed === undefined) return t.diagnostic('this clone, or archive, has no history: the record stands for it');
			const ids = new Map(listed.split('\0').filter(Boolean).map((line) => line.split('\t')).map(([about, file]) => [file, about.split(' ')[2]]));
			const files = (await filesOf(tree)).filter((file) => !/^build\/|^nginx\/dist\/commit$|__pycache__/.test(file));
			for (const file of files) {
				const bytes = await readFile(path.join(tree, file));
				assert.equal(createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'), ids.get(file), file);
			}
			assert.ok(files.length > 250, `${files.length} files`);
		});

		test('a file of tables that it has is as it was, but for what another one corrects', async () => {
			const differ = [];
			for (const file of (await filesOf(path.join(tree, 'sql'))).filter((each) => /(^|\/)tables\//.test(each))) {
				const [then, now] = await Promise.all([tree, ROOT].map((at) => readFile(path.join(at, 'sql', file), 'utf8').catch(() => 'nothing')));
				if (then !== now) differ.push(path.basename(file));
			}
			assert.deepEqual(differ.filter((file) => !existsSync(path.join(ROOT, 'sql/tables', CORRECTED[file] ?? '-'))), []);
		});

		test('it becomes one of today while calls go on, and the version of before goes on with it', LONG, async (t) => {
			const programs = programsOf(tree);
			const database = await migrated(`before_${name}`, path.join(tree, 'sql'));
			const { env } = database;
			const { providers: { demo, stripe } } = JSON.parse(await readFile(env.URLMODE_CONFIG, 'utf8'));
			const described = { providers_dir: path.join(folder, 'current/providers') };
			await useDatabase(env.URLMODE_CONFIG, env.URLMODE_PROGRAMS_DATABASE_URL, { ...described, providers: { demo, stripe } });
			await useDatabase(env.URLMODE_CONSOLE_CONFIG, env.URLMODE_OPERATOR_DATABASE_URL, described);
			await useDatabase(env.URLMODE_API_CONFIG, env.URLMODE_DATABASE_URL);
			if (programs.length > 0) {
				const flags = ['CFLAGS=-O0 -g0 -w -U_FORTIFY_SOURCE', `PROVIDERS_DIR=${path.join(folder, name, 'providers')}`];
				await run(tree, plain, 'make', '-s', ...flags, ...programs.map((each) => `build/bin/${each}`));
				await mkdir(path.join(folder, name));
				await symlink(path.join(tree, 'build/bin'), path.join(folder, name, 'bin'));
				await symlink(path.join(tree, 'lib/providers'), path.join(folder, name, 'providers'));
				await use(name);
			}

			const load = new Load();
			const payments = programs.length > 0 ? sender(fixture, 'stripe') : undefined;
			const operator = new Console(fixture.stack);
			const join = async (version, at) => {
				for (const [language, open] of [['Node', openNode], ['Python', openPython], ...programs.includes('api') ? [['HTTP', openHttp]] : []]) {
					const side = await open(at, env);
					t.after(() => side.close());
					load.add(`${language} of ${version}: an account`, () => connect(side, programs.length > 0));
					load.add(`${language} of ${version}: a payment`, () => pay(side, payments));
					if (language === 'HTTP') load.add('an operator', () => look(side, operator));
				}
			};
			const before = await signatures(database.query);
			try {
				await join('before', tree);
				await load.more();
				load.isMigrating = true;
				const [applied] = await Promise.all([migrate(env, path.join(ROOT, 'sql')), load.more()]);
				assert.ok(applied.includes('060_before.sql'), applied.join());
				await load.more(); // and those that had begun meanwhile are over
				load.isMigrating = false;
				await load.more();
				const fresh = await migrated(`fresh_${name}`, path.join(ROOT, 'sql'));
				assert.deepEqual(await schema(database), await schema(fresh));
				const widened = changed({ signatures: before }, await signatures(database.query)).map((signature) => /^urlmode\.(\w+)/.exec(signature)[1]);
				assert.deepEqual(widened.filter((each) => !WIDENED.includes(each)), [], 'what older programs and packages call');
				await database.query('SET ROLE urlmode_server');
				for (const statement of await statements(tree)) {
					await database.query(`PREPARE call AS ${statement}`).catch((error) => assert.fail(`${statement}: ${error.message}`));
					await database.query('DEALLOCATE call');
				}
				await database.query('RESET ROLE');
				assert.deepEqual(await migrate(env, path.join(ROOT, 'sql')), []);
				await load.more();

				// The programs, and then the servers, as UPGRADING says; and back, in the other order.
				if (programs.length > 0) await use('now');
				await join('today', ROOT);
				await load.more();
				if (programs.length > 0) {
					await use(name);
					await load.more();
				}
			} finally {
				const walked = await load.stop();
				t.diagnostic(`${walked} elicitations; ${load.ended} were begun anew while the migration ran`);
			}
		});
	});
}

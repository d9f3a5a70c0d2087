// Servers of one file in languages without a package of their own, on the official SDK of the language, which wait over HTTP.
// A real client buys a report and connects an account, at two instances, of which one is killed. A language whose compiler is
// not there is skipped. What the compilers download and make stays in build/languages.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { makeExampleProject, pay, signIn, startExample } from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { openProvider } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';

const here = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const BUILD = here('../../build/languages/');
/** Milliseconds for a build with what it downloads, and how often it is tried: a registry may be slow, or away for a moment. */
const LIMIT = 1_200_000;
const TRIES = 5;
/** A machine of Java that lives for seconds has no use for its best compiler. */
const JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto'];

/** A program, with the rest of what it says if it fails, tried again. */
async function run(program, args, env) {
	for (let tried = 1; ; tried += 1) {
		const error = await promisify(execFile)(program, args, { env: { ...process.env, ...env }, maxBuffer: 1 << 26 }).then(() => undefined, (reason) => reason);
		if (!error) return;
		if (tried === TRIES) throw error;
		await sleep(5_000);
	}
}

function buildJava() {
	return run('mvn', ['--quiet', '--batch-mode', 'compile', `-Dmaven.repo.local=${BUILD}maven`, `-Dtarget=${BUILD}java`, `--file=${here('java/pom.xml')}`],
		{ MAVEN_OPTS: [...JAVA, '-Dmaven.wagon.rto=60000'].join(' ') });
}

/** In a copy, with the versions of versions.lock, a Cargo.lock that does not say where its registry is: Cargo knows. */
async function buildRust() {
	const source = `${BUILD}rust/source/`;
	const cargo = (...args) => run('cargo', [...args, `--manifest-path=${source}Cargo.toml`], { CARGO_HOME: `${BUILD}cargo`, CARGO_NET_RETRY: '5' });
	mkdirSync(source, { recursive: true });
	for (const file of ['Cargo.toml', 'server.rs']) copyFileSync(here(`rust/${file}`), source + file);
	rmSync(`${source}Cargo.lock`, { force: true });
	await cargo('generate-lockfile', '--quiet');
	const [registry] = /^source = .*$/m.exec(readFileSync(`${source}Cargo.lock`, 'utf8'));
	writeFileSync(`${source}Cargo.lock`, readFileSync(here('rust/versions.lock'), 'utf8').replaceAll(/^checksum = /gm, `${registry}\n$&`));
	await cargo('build', '--quiet', '--locked', `--target-dir=${BUILD}rust`);
}

/** How each is built, by a program that may not be there, and then started. */
const LANGUAGES = {
	Java: { needs: 'mvn', build: buildJava, command: ['java', ...JAVA, '-cp', `${BUILD}java/classes:${BUILD}java/lib/*`, 'Server'] },
	Rust: { needs: 'cargo', build: buildRust, command: [`${BUILD}rust/debug/server`] },
};
const isThere = (program) => process.env.PATH.split(':').some((folder) => existsSync(`${folder}/${program}`));

const project = makeExampleProject('sdk', 'newest');

/** All at once: one language runs while the next is compiled. */
const built = {};
before(() => {
	for (const [language, { needs, build }] of Object.entries(LANGUAGES)) {
		if (!isThere(needs)) continue;
		built[language] = build();
		built[language].catch(() => {}); // its own tests tell of it
	}
});

for (const [language, { needs, command }] of Object.entries(LANGUAGES)) {
	describe(`a server in ${language}`, { timeout: LIMIT, skip: !isThere(needs) && `${needs} is not there` }, () => {
		let fixture;
		let instances;

		before(async () => {
			await built[language];
			fixture = await openFixture({ name: `languages-${language.toLowerCase()}`, own: true, env: { API: '1' } });
			fixture.closeAtEnd(await openProvider(fixture.stack));
			instances = [];
			for (let n = 0; n < 2; n += 1) instances.push(await startExample(fixture, project, { command, env: { APP_CHECKOUT: 'http://localhost:9/pay' } }));
		}, { timeout: LIMIT });

		after(() => fixture?.close());

		/** A client of an instance, which opens each link. */
		const connect = async (instance, user, onUrl) => fixture.closeAtEnd(await connectSdk1(project, {
			url: instances[instance].url, token: `token-of-${user}`, onElicit: async ({ url }) => {
				await onUrl(url);
				return 'accept';
			},
		}));

		async function say(client, tool) {
			const { content: [{ text }], isError = false } = await client.callRaw(tool, { args: {} });
			return [text, isError];
		}

		/** Calls a tool of an instance with a client of its own. */
		const call = async (instance, user, tool, onUrl = () => assert.fail('asked')) => say(await connect(instance, user, onUrl), tool);

		test('a report is paid once, and read again without paying at another instance', async () => {
			assert.deepEqual(await call(0, 'ada', 'buy_report', (url) => pay(fixture, url)), ['Paid with cs_test_1.', false]);
			assert.deepEqual(await call(1, 'ada', 'buy_report'), ['Paid with cs_test_1.', false]);
			assert.deepEqual(await fixture.urlmode.unclaimed(), []);
		});

		test('an account is connected', async () => {
			assert.deepEqual(await call(1, 'ada', 'connect_account', (url) => signIn(fixture, url)), ['Connected the account of Ada Lovelace.', false]);
		});

		test('what was paid while the instance that waited was killed is given by the other', async () => {
			let client, lost, isAsked = false;
			await new Promise((resolve, reject) => {
				const payWithout = async (url) => {
					isAsked = true;
					await instances[0].kill();
					await pay(fixture, url, 'paid', { amount: 1050, currency: 'EUR', reference: 'cs_test_2' });
				};
				// After the client has said that the page is open, and the call waits.
				lost = connect(0, 'grace', (url) => void payWithout(url).then(resolve, reject)).then((opened) => say(client = opened, 'buy_report'));
				lost.catch((error) => isAsked || reject(error));
			});
			assert.deepEqual(await call(1, 'grace', 'buy_report'), ['Paid with cs_test_2.', false]);
			await client.close(); // which would wait on for a minute
			await assert.rejects(lost);
		});
	});
}

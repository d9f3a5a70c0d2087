// Servers of one file in languages without a package of their own, on the official SDK of the language, which wait over HTTP.
// A real client buys a report and connects an account, at two instances, of which one is killed. A language whose compiler is
// not there is skipped.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { makeExampleProject, pay, signIn, startExample, USERS } from '../support/adapters.mjs';
import { connectSdk1 } from '../support/clients.mjs';
import { openProvider } from '../support/demo.mjs';
import { openFixture } from '../support/fixture.mjs';

const here = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const BUILD = here('../../build/languages/');
/** How each is built, and then started. */
const LANGUAGES = {
	Java: {
		needs: 'mvn', build: ['mvn', '--quiet', '--batch-mode', 'package', `-Dtarget=${BUILD}java`, `--file=${here('java/pom.xml')}`],
		command: ['java', '-cp', `${BUILD}java/server-1.0.0.jar:${BUILD}java/lib/*`, 'Server'],
	},
	Rust: {
		needs: 'cargo', build: ['cargo', 'build', '--quiet', `--target-dir=${BUILD}rust`, `--manifest-path=${here('rust/Cargo.toml')}`],
		command: [`${BUILD}rust/debug/server`],
	},
};
const isThere = (program) => process.env.PATH.split(':').some((folder) => existsSync(`${folder}/${program}`));
const missing = Object.values(LANGUAGES).every(({ needs }) => isThere(needs)) ? undefined : 'a compiler is missing';
if (missing && process.env.CI) throw new Error(missing);

const project = makeExampleProject('sdk', 'newest');

for (const [language, { needs, build, command }] of Object.entries(LANGUAGES)) {
	describe(`a server in ${language}`, { timeout: 1_200_000, skip: !isThere(needs) && `${needs} is not there` }, () => {
		let fixture;
		let instances;

		before(async () => {
			await promisify(execFile)(build[0], build.slice(1), { maxBuffer: 1 << 26 });
			fixture = await openFixture({ name: `languages-${language.toLowerCase()}`, own: true, env: { API: '1' } });
			fixture.closeAtEnd(await openProvider(fixture.stack));
			instances = [];
			for (let n = 0; n < 2; n += 1) instances.push(await startExample(fixture, project, { command, env: { APP_CHECKOUT: 'http://localhost:9/pay' } }));
		}, { timeout: 1_200_000 });

		after(() => fixture?.close());

		/** Calls a tool of an instance with a client of its own. */
		async function call(instance, user, tool, onUrl = () => assert.fail('asked')) {
			const client = fixture.closeAtEnd(await connectSdk1(project, { url: instances[instance].url, token: `token-of-${user}`, onElicit: async ({ url }) => {
				await onUrl(url);
				return 'accept';
			} }));
			const { content: [{ text }], isError = false } = await client.callRaw(tool, { args: {} });
			return [text, isError];
		}

		test('a report is paid once, and read again without paying at another instance', async () => {
			assert.deepEqual(await call(0, 'ada', 'buy_report', (url) => pay(fixture, url)), ['Paid with cs_test_1.', false]);
			assert.deepEqual(await call(1, 'ada', 'buy_report'), ['Paid with cs_test_1.', false]);
			assert.deepEqual(await fixture.urlmode.unclaimed(), []);
		});

		test('an account is connected', async () => {
			assert.deepEqual(await call(1, 'ada', 'connect_account', (url) => signIn(fixture, url)), ['Connected the account of Ada Lovelace.', false]);
		});

		test('what was paid while the instance that waited was killed is given by the other', async () => {
			let paying;
			const lost = call(0, 'grace', 'buy_report', (url) => {
				// After the client has said that the page is open, and the call waits.
				paying = instances[0].kill().then(() => pay(fixture, url, 'paid', { amount: 1050, currency: 'EUR', reference: 'cs_test_2' }));
			});
			await assert.rejects(lost);
			await paying;
			assert.deepEqual(await call(1, 'grace', 'buy_report'), ['Paid with cs_test_2.', false]);
			assert.deepEqual(Object.keys(USERS).length, 2);
		});
	});
}

// Users who take longer than their client: the call ends, and what they do
// afterwards counts. With the real clients, whose own limits are those of their SDKs.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';

import { ROUND_MS } from '../../lib/node/src/core/contract-limits.js';
import { deleteElicitations, goToCheckout, makeExampleProject, openAdapterFixture, pay, rowState, settle, startExample } from '../support/adapters.mjs';
import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { stateOf } from '../support/flow.mjs';

const ADA = { token: 'token-of-ada' };
const TWELVE_MINUTES = 12 * 60_000;
/** The limit of the SDKs' clients. */
const CLIENT_MS = 60_000;
/** How long a call waits in these tests. */
const SHORT_MS = 400;
const LEGS = TWELVE_MINUTES / ROUND_MS;

/** What the servers know of the clients. */
const CLIENTS = [{ name: 'hasty', round: SHORT_MS }, { name: 'patient', round: SHORT_MS, rounds: 8 }];

let fixture;

before(async () => {
	fixture = await openAdapterFixture('patience');
});

after(() => fixture?.close());

beforeEach(() => deleteElicitations(fixture));

const textOf = (result) => result.content.map(({ text }) => text).join('\n');

test('a call ends ten seconds before its client would end it', () => {
	assert.ok(ROUND_MS + 10_000 <= CLIENT_MS);
});

for (const [name, framework, of, connect] of [
	['sdk', '@modelcontextprotocol/sdk', 'the SDK 1.x', connectSdk1],
	['sdk2', '@modelcontextprotocol/server', 'the SDK 2.x', connectSdk2],
]) {
	const project = makeExampleProject(name, 'newest');

	describe(`${framework} ${project.versionOf(framework)}, a client of ${of}`, { timeout: 180_000 }, () => {
		let instance;

		before(async () => {
			instance = await startExample(fixture, project, { env: { APP_CLIENTS: JSON.stringify(CLIENTS) } });
		});

		const open = async (options) => fixture.closeAtEnd(await connect(project, { url: instance.url, ...ADA, ...options }));
		const buy = (client, options = { timeout: CLIENT_MS }) => client.callRaw('buy_report', { args: {}, options });

		test('a click after the client has ended its call works, and the next call has the outcome', async () => {
			const client = await open();
			// The client's own limit comes before the end of the round, as with a host that waits 30 seconds.
			const ended = await buy(client, { timeout: 5_000 }).then((result) => assert.fail(textOf(result)), (error) => error);
			assert.match(String(ended), /timed out/i);

			const [{ url }] = client.requests;
			const [{ id }] = await fixture.stack.sql('SELECT id FROM urlmode.elicitation WHERE subject = $1', ['ada@example.org']);
			assert.equal(await rowState(fixture, id), 'pending');
			assert.equal(await pay(fixture, url), id);
			assert.equal(await rowState(fixture, id), 'completed accept');
			assert.equal(textOf(await buy(client)), 'Paid with cs_test_1.');
			assert.equal(client.requests.length, 1, 'nobody is asked for what is done');
		});

		for (const [host, calls] of [['hasty', LEGS], ['patient', Math.ceil(LEGS / 8)]]) {
			test(`a user who takes twelve minutes, with a ${host} client: no error, one link, and what was paid`, async () => {
				const client = await open({ name: host });
				const links = new Set();
				let paying;
				for (let call = 1; call <= calls; call += 1) {
					const result = await buy(client);
					const { elicitation: { status, url } } = result.structuredContent;
					links.add(url);
					assert.ok(textOf(result).split('\n').includes(url), textOf(result));
					assert.deepEqual([result.isError ?? false, status], [false, paying ? 'opened' : 'pending'], textOf(result));
					if (call === Math.floor(calls / 2)) paying = await goToCheckout(fixture, url);
				}
				for (const { url } of client.requests) links.add(url);
				assert.equal(links.size, 1, [...links].join('\n'));
				assert.match(stateOf([...links][0]), /^[\w-]{43}$/);

				await settle(fixture, paying);
				const asked = client.requests.length;
				assert.equal(textOf(await buy(client)), 'Paid with cs_test_1.');
				assert.equal(client.requests.length, asked);
				assert.equal((await fixture.stack.sql('SELECT FROM urlmode.elicitation WHERE subject = $1', ['ada@example.org'])).length, 1);
			});
		}
	});
}

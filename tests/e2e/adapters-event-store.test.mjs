// Sessions of 2025-11-25 whose transport has an event store: a client that listened to nothing gets the completion
// notification when it resumes its stream, once; and one whose stream is cut fetches the answer to its call.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { goToCheckout, makeExampleProject, openAdapterFixture, PRICE, settle, startExample } from '../support/adapters.mjs';
import { describeBuild, FRONTMCP } from '../support/builds.mjs';
import { frontMcpExample } from '../support/frontmcp.mjs';
import { example } from '../support/projects.mjs';
import { until } from '../support/wait.mjs';

const EVENT_STORE = readFileSync(new URL('../support/answers/event-store.mjs', import.meta.url), 'utf8');
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

let fixture;

before(async () => {
	fixture = await openAdapterFixture('event-store');
});

after(() => fixture?.close());

const frontMcp = frontMcpExample();

/** The example, each session of which has an event store. */
function withEventStore(name) {
	const source = example(`${name}.mjs`);
	// FrontMCP has its own.
	if (name === 'frontmcp') return source.replace(/\bhttp: \{/, "transport: { eventStore: { enabled: true, provider: 'memory' } }, $&");
	const changed = `import { EventStore } from './event-store.mjs';\n${source.replace(/sessionIdGenerator: /, 'eventStore: new EventStore(), $&')}`;
	assert.ok(changed.includes('eventStore: new'));
	return changed;
}

async function textFrom(reader) {
	const { done, value } = await reader.read();
	assert.ok(!done, 'the stream has ended');
	return value;
}

/** A client that says by itself which of its streams it reads. */
class Client {
	#url;
	#headers;
	#ids = 0;

	constructor(url, token) {
		this.#url = url;
		this.#headers = { ...HEADERS, authorization: `Bearer ${token}` };
	}

	async connect() {
		const { response, message } = await this.#post('initialize', {
			protocolVersion: '2025-11-25', capabilities: { elicitation: { url: {} } }, clientInfo: { name: 'raw', version: '1.0.0' },
		});
		this.#headers['mcp-session-id'] = response.headers.get('mcp-session-id');
		this.#headers['mcp-protocol-version'] = message.result.protocolVersion;
		await fetch(this.#url, { method: 'POST', headers: this.#headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
	}

	async call(name) {
		return (await this.#post('tools/call', { name, arguments: {} })).message;
	}

	/** Calls a tool that asks for something, whose stream is cut when it has. */
	async begin(name) {
		const cutting = new AbortController();
		const response = await fetch(this.#url, {
			method: 'POST', headers: this.#headers, signal: cutting.signal,
			body: JSON.stringify({ jsonrpc: '2.0', id: this.#ids += 1, method: 'tools/call', params: { name, arguments: {} } }),
		});
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		let text = '';
		while (!/^data: \{.*\n\n/m.test(text)) text += await textFrom(reader);
		const { id, params } = JSON.parse(/^data: (\{.*)$/m.exec(text)[1]);
		const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
		await fetch(this.#url, { method: 'POST', headers: this.#headers, body: JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept' } }) });
		return { last, url: params.url, cut: () => cutting.abort() };
	}

	async #post(method, params) {
		const id = this.#ids += 1;
		const response = await fetch(this.#url, {
			method: 'POST', headers: this.#headers, body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
		});
		const events = (await response.text()).matchAll(/^data: (\{.*)$/gm);
		return { response, message: [...events].map(([, data]) => JSON.parse(data)).find((message) => message.id === id) };
	}

	/** Reads the session's own stream: the next events that are messages, until it is closed. */
	async listen(last) {
		const closing = new AbortController();
		// The Node handler of SDK 2.x notices at its next write that a stream was cut; until then it is in use.
		const response = await until('the stream is free', async () => {
			const got = await fetch(this.#url, {
				headers: { ...this.#headers, ...last && { 'last-event-id': last } }, signal: closing.signal,
			});
			assert.ok([200, 409].includes(got.status), `${got.status}`);
			return got.status === 200 && got;
		});
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		let text = '';
		return {
			async next() {
				for (;;) {
					const [event, id, data] = /[^]*?^id: (.*)\ndata: (\{.*)\n\n/m.exec(text) ?? [];
					if (event) {
						text = text.slice(event.length);
						return { id, ...JSON.parse(data) };
					}
					text += await textFrom(reader);
				}
			},
			close: () => closing.abort(),
		};
	}
}

for (const [name, frameworks] of [['sdk', 'newest'], ['sdk', 'oldest'], ['sdk2', 'newest'], ['sdk2', 'oldest'], ['frontmcp', 'newest']]) {
	const of = name === 'frontmcp' ? describeBuild('FrontMCP', FRONTMCP['@frontmcp/sdk']) : `${name}, ${frameworks}`;
	test(`${of}: a stream that is cut ends no call, and its client fetches the answer`, { timeout: 120_000 }, async () => {
		const { example: { doubles, files } = {}, tokenOf = (user) => `token-${user}`, env } = name === 'frontmcp' ? frontMcp : {};
		const project = makeExampleProject(name, frameworks, { doubles, source: withEventStore(name), files: { ...files, 'event-store.mjs': EVENT_STORE } });
		const user = `${randomUUID()}@example.org`;
		const token = tokenOf(user);
		const server = await startExample(fixture, project, { env: { APP_USERS: JSON.stringify({ [token]: user }), ...await env?.() } });
		const client = new Client(server.url, token);
		await client.connect();
		const { last, url, cut } = await client.begin('buy_report');
		cut();
		// Longer than a call takes that ends with its connection.
		await client.call('nothing');
		const id = await goToCheckout(fixture, url);
		const pays = () => settle(fixture, id, 'paid', { ...PRICE, reference: `cs_${randomUUID()}` });
		// The SDK 1.x loses what it answers while it replays, and the Node handler of SDK 2.x takes the stream for one in use until it answers.
		if (name === 'sdk2') await pays();
		const resumed = await client.listen(last);
		if (name !== 'sdk2') await pays();
		for (let message = await resumed.next(); ; message = await resumed.next()) {
			if (message.result === undefined) continue;
			assert.match(message.result.content[0].text, /^Paid with/);
			break;
		}
		resumed.close();
		// Nobody knows whether that was read.
		assert.match((await client.call('buy_report')).result.content[0].text, /^Paid with/);
	});
}

// The SDK 1.23 stores nothing for a stream that nobody reads.
for (const [name, frameworks] of [['sdk', 'newest'], ['sdk2', 'newest'], ['sdk2', 'oldest']]) {
	test(`${name}, ${frameworks}: a client that resumes its stream is notified, once`, { timeout: 120_000 }, async () => {
		const project = makeExampleProject(name, frameworks, { source: withEventStore(name), files: { 'event-store.mjs': EVENT_STORE } });
		const token = `token-${randomUUID()}`;
		const server = await startExample(fixture, project, { env: { APP_USERS: JSON.stringify({ [token]: `${token}@example.org` }) } });
		const client = new Client(server.url, token);
		await client.connect();

		/** A call that fails with -32042, whose user pays. */
		const payReport = async () => {
			const { error } = await client.call('read_report');
			assert.equal(error?.code, -32042);
			const [{ elicitationId, url }] = error.data.elicitations;
			await settle(fixture, await goToCheckout(fixture, url), 'paid', { ...PRICE, reference: `cs_${randomUUID()}` });
			return elicitationId;
		};
		const readReport = async () => assert.match((await client.call('read_report')).result.content[0].text, /^Paid with/);
		const completes = ({ method, params }, elicitationId) => assert.deepEqual([method, params], [
			'notifications/elicitation/complete', { elicitationId }]);

		const first = await client.listen();
		const one = await payReport();
		const told = await first.next();
		completes(told, one);
		first.close();
		await readReport();

		const two = await payReport();
		await readReport();
		const second = await client.listen(told.id);
		completes(await second.next(), two);
		const three = await payReport();
		completes(await second.next(), three);
		second.close();
	});
}

// A host that quits before the answer is written, and a tool that throws after its
// work: the work is done once, and the next call is given what it has returned. With the servers and clients of the
// frameworks themselves.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

import { FRONTMCP, LYNQ } from '../support/builds.mjs';
import { openFixture } from '../support/fixture.mjs';
import { frontMcpExample } from '../support/frontmcp.mjs';
import { startInstance } from '../support/instances.mjs';
import { makeProject } from '../support/projects.mjs';
import { until } from '../support/wait.mjs';

const ANSWERS = path.join(import.meta.dirname, '../support/answers');
const source = (name) => readFileSync(path.join(ANSWERS, `${name}.mjs`), 'utf8');

/** The server, its client, and how the server answers. */
const SERVERS = [
	['sdk', 'sdk', 'stream'], ['sdk', 'sdk', 'json'],
	['sdk2', '2026-07-28'], ['sdk2', '2025-11-25'],
	['mcp-lite', 'sdk'], ['mcp-use', '2026-07-28'],
];
/** Those that npm does not have. */
const BUILDS = { 'lynq': LYNQ, 'frontmcp': FRONTMCP };
const { auth, tokenOf, env: frontMcpPort } = frontMcpExample();

let fixture;

before(async () => {
	fixture = await openFixture({ name: 'answers' });
});

after(() => fixture?.close());

const projects = new Map();

function projectOf(frameworks, name) {
	const key = `${name}-${frameworks}`;
	const files = Object.fromEntries([['server.mjs', name], ['work.mjs', 'work'], ['host.mjs', 'host'], ['event-store.mjs', 'event-store']]
		.map(([file, from]) => [file, source(from)]));
	if (!projects.has(key)) projects.set(key, makeProject({ name: `answers-${name}`, frameworks, files, doubles: BUILDS[name] }));
	return projects.get(key);
}

/** A server whose tool acts on something that was signed, and what it says. */
async function start(frameworks, name, answers = 'stream', more = {}) {
	const project = projectOf(frameworks, name);
	const signed = await fixture.create({ provider: 'docusign', kind: 'signature' });
	await fixture.urlmode.complete(signed.id, { ...signed.owner, action: 'accept' });
	const go = path.join(project.folder, `go-${randomUUID()}`);
	const server = fixture.closeAtEnd(await startInstance(project, fixture.stack, {
		env: { WORK_ID: signed.id, WORK_SUBJECT: signed.owner.subject, WORK_GO: go, ANSWERS: answers, ...more, ...name === 'frontmcp' && { AUTH: auth, ...await frontMcpPort() } },
	}));
	return {
		project, server,
		says: (what) => until(`the server says "${what}"`, () => server.output.includes(what)),
		letGoOn: () => writeFileSync(go, ''),
	};
}

function startHost({ project, server }, client) {
	const child = spawn(process.execPath, ['host.mjs', server.url, client], {
		cwd: project.folder, stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, HOST_TOKEN: tokenOf('ada@example.org') },
	});
	fixture.closeAtEnd({ close: () => child.kill('SIGKILL') });
	child.stdin.on('error', () => {});
	const lines = createInterface({ input: child.stdout });
	return {
		/** Calls the tool. */
		async call() {
			child.stdin.write('\n');
			const [said] = await once(lines, 'line', { signal: AbortSignal.timeout(120_000) });
			return said;
		},
		begin() {
			child.stdin.write('\n');
		},
		/** Without a word to its server. */
		async quit() {
			child.kill('SIGKILL');
			await once(child, 'close');
		},
	};
}

for (const frameworks of ['newest', 'oldest']) {
	describe(`${frameworks} versions`, { timeout: 300_000 }, () => {
		const builds = frameworks === 'newest' ? Object.keys(BUILDS).map((name) => [name, 'sdk']) : [];
		for (const [name, client, answers] of [...SERVERS, ...builds]) {
			test(`${[name, client, answers].filter(Boolean).join(', ')}: a host that quits loses nothing`, async () => {
				const running = await start(frameworks, name, answers);
				const quitting = startHost(running, client);
				quitting.begin();
				await running.says('the work begins');
				await quitting.quit();
				await running.says('the client is gone');
				running.letGoOn();
				await running.says('the answer was not written');

				const host = startHost(running, client);
				assert.equal(await host.call(), 'done 1');
				await running.says('the answer was written');
				assert.equal(await host.call(), 'taken', 'the answer was read');
				await host.quit();
				await running.server.kill();
				assert.equal(running.server.output.split('the work begins').length, 2, 'the work is done once');
			});

			test(`${[name, client, answers].filter(Boolean).join(', ')}: a tool that throws after its work has not answered, and the next call has the result`, async () => {
				const running = await start(frameworks, name, answers, { WORK_THROWS: 'yes' });
				const host = startHost(running, client);
				running.letGoOn();
				assert.match(await host.call(), /^error: /);
				await running.says('the answer was not written');
				assert.equal(await host.call(), 'done 1');
				await running.says('the answer was written');
				assert.equal(await host.call(), 'taken');
				await host.quit();
				await running.server.kill();
			});
		}
	});
}

for (const [frameworks, name, client] of [
	['newest', 'sdk', 'sdk'], ['newest', 'sdk2', '2025-11-25'], ['oldest', 'sdk2', '2025-11-25'],
]) test(`${frameworks} ${name}: a replay from an event store confirms nothing`, { timeout: 120_000 }, async () => {
	const running = await start(frameworks, name, 'replay');
	const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' };
	const post = (message, more) => fetch(running.server.url, {
		method: 'POST', headers: { ...headers, ...more?.headers }, body: JSON.stringify({ jsonrpc: '2.0', ...message }), signal: more?.signal,
	});
	const hello = await post({ id: 1, method: 'initialize', params: {
		protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1.0.0' } } });
	headers['mcp-session-id'] = hello.headers.get('mcp-session-id');
	await hello.text();
	await post({ method: 'notifications/initialized' });

	const leaving = new AbortController();
	const call = await post({ id: 2, method: 'tools/call', params: { name: 'work', arguments: {} } }, { signal: leaving.signal });
	const { value } = await call.body.getReader().read();
	const [, last] = /^id: (\S+)/m.exec(Buffer.from(value).toString());
	await running.says('the work begins');
	leaving.abort();
	await running.says('the connection is cut');
	running.letGoOn();
	await running.says('the answer was not written');

	const replay = await fetch(running.server.url, { headers: { ...headers, 'last-event-id': last } });
	const { value: replayed } = await replay.body.getReader().read();
	assert.match(Buffer.from(replayed).toString(), /done 1/);
	assert.ok(!running.server.output.includes('the client is gone'));
	const host = startHost(running, client);
	assert.equal(await host.call(), 'done 1', 'nobody knows whether the replay was read');
	assert.equal(await host.call(), 'taken');
	await host.quit();
});

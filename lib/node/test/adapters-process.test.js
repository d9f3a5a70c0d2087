// After the end of an adapter's call, nothing keeps the process running, even without `close`.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { requireUrl } from './support/database.js';
import { scratchKeys } from './support/keys.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const LEFT_MS = 10_000;

const PRELUDE = `
	import { randomUUID } from 'node:crypto';
	import { UrlMode } from 'urlmode';
	import { withElicitation } from 'urlmode/sdk2';
	const urlmode = new UrlMode({ databaseUrl: process.env.URLMODE_DATABASE_URL, keysFile: process.env.URLMODE_KEYS_FILE,
		baseUrl: 'https://callback.example' });
	const subject = 'user-' + randomUUID();
	const owner = { subject };
	const elicitOptions = { urlmode, subject, provider: 'demo', kind: 'oauth', message: 'Please.', targetUrl: 'https://provider.example/' };
	const controller = new AbortController();
	const call = (respond, capabilities = { elicitation: { url: {} } }, _meta = { progressToken: 1 }) => [
		{ ...elicitOptions, server: { getClientCapabilities: () => capabilities, getClientVersion: () => undefined }, call: { mcpReq: { id: 1, signal: controller.signal, _meta, requestState: () => undefined,
			notify: async () => {}, send: ({ params }, options) => respond(params, options) } } }, async () => ({ content: [] })];
	const held = (params, { signal }) => new Promise((resolve, reject) => {
		const timer = setTimeout(() => {}, 600_000); // as an SDK's own time limit
		if (signal.aborted) { clearTimeout(timer); reject(new Error('cancelled')); }
		signal.addEventListener('abort', () => { clearTimeout(timer); reject(new Error('cancelled')); });
	});
	const complete = (id, action) => urlmode.complete(id, { ...owner, action });
`;

const BODIES = {
	'accepted at once': `
		await withElicitation(...call(async ({ elicitationId }) => { setTimeout(complete, 50, elicitationId, 'accept'); return { action: 'accept' }; }));`,
	'accepted while the client holds its answer': `
		await withElicitation(...call((params, options) => { setTimeout(complete, 50, params.elicitationId, 'accept'); return held(params, options); }));`,
	'refused by the client': `
		await withElicitation(...call(async () => ({ action: 'decline' })));`,
	'whose round is over, and closed': `
		const [options, body] = call(held);
		await withElicitation({ ...options, roundTimeout: 100 }, body);
		await urlmode.close();`,
	'aborted': `
		setTimeout(() => controller.abort(new Error('enough')), 100);
		await withElicitation(...call(held)).catch(() => {});`,
	'with a client that is gone': `
		setTimeout(() => controller.abort(Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })), 100);
		await withElicitation(...call(held)).catch(() => {});`,
	'with a client that fails': `
		await withElicitation(...call(async () => { throw new Error('no'); })).catch(() => {});`,
	'with a link as text': `
		const [options, body] = call(held, {});
		await withElicitation(options, body);
		await withElicitation({ ...options, roundTimeout: 100 }, body);`,
	'superseded': `
		await withElicitation(...call((params, options) => { void urlmode.create({ ...elicitOptions, exclusive: true }); return held(params, options); }));`,
	'by close': `
		setTimeout(() => urlmode.close(), 100);
		await withElicitation(...call(held)).catch(() => {});`,
	'of mcp-lite, answered, timed out and closed': `
		const { PostgresClientRequestAdapter } = await import('urlmode/mcp-lite');
		const requests = new PostgresClientRequestAdapter(urlmode);
		const { promise } = requests.createPending('s', 'a');
		setTimeout(() => requests.resolvePending('s', 'a', {}), 50);
		await promise;
		await requests.createPending('s', 'b', { timeout_ms: 50 }).promise.catch(() => {});`,
	'of FrontMCP, unsubscribed': `
		const { PostgresStorage } = await import('urlmode/frontmcp');
		const storage = new PostgresStorage(urlmode);
		await storage.connect();
		const unsubscribe = await storage.subscribe(subject, () => {});
		await storage.publish(subject, 'a');
		await unsubscribe();`,
};

for (const [name, body] of Object.entries(BODIES)) {
	test(`the process exits by itself after a call ${name}`, async (t) => {
		const child = spawn(process.execPath, ['--input-type=module', '-'], {
			cwd: PACKAGE,
			env: { ...process.env, URLMODE_DATABASE_URL: requireUrl('URLMODE_DATABASE_URL'), URLMODE_KEYS_FILE: scratchKeys(t) },
			timeout: 30_000,
		});
		let output = '';
		for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
		child.stdin.end(`${PRELUDE}${body}
			const end = performance.now();
			process.on('exit', () => console.log('done in ' + Math.round(performance.now() - end)));`);
		const [code, signal] = await new Promise((resolve) => child.once('close', (...how) => resolve(how)));
		assert.equal(code, 0, `ended with ${code ?? signal}\n${output}`);
		const after = Number(/done in (\d+)/.exec(output)?.[1]);
		assert.ok(after < LEFT_MS, `it took ${after} ms`);
	});
}

// A process that has used the package exits by itself.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { connect, requireUrl } from './support/database.js';
import { scratchKeys } from './support/keys.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const PRELUDE = `
	import { UrlMode } from 'urlmode';
	const urlmode = new UrlMode({ databaseUrl: process.env.URLMODE_DATABASE_URL, keysFile: process.env.URLMODE_KEYS_FILE,
		baseUrl: 'https://callback.example' });
	const owner = { subject: 'user-42' };
	const create = (options) => urlmode.create({
		...owner, provider: 'demo', kind: 'oauth', targetUrl: 'https://provider.example/', ...options });
`;
/** An idle connection of the pool is closed after ten seconds: a process that waits for that takes longer. */
const EXITS_WITHIN_MS = 8_000;
const FINISH = "process.on('exit', () => console.log('done in ' + Math.round(performance.now() - end)));";

/** Runs a module; resolves with how long it took to exit after it printed \`end\`. */
async function run(t, body, { databaseUrl = requireUrl('URLMODE_DATABASE_URL') } = {}) {
	const child = spawn(process.execPath, ['--input-type=module', '-'], {
		cwd: PACKAGE,
		env: { ...process.env, URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: scratchKeys(t) },
		timeout: 30_000,
	});
	let [output, errors] = ['', ''];
	child.stdout.on('data', (chunk) => (output += chunk));
	child.stderr.on('data', (chunk) => (errors += chunk));
	child.stdin.end(`${PRELUDE}${body}\nconst end = performance.now();\n${FINISH}`);
	const [code, signal] = await new Promise((resolve) => child.once('close', (...how) => resolve(how)));
	assert.equal(code, 0, `ended with ${code ?? signal}\n${output}${errors}`);
	return Number(/done in (\d+)/.exec(output)?.[1]);
}

const COMPLETED = `
	const { elicitationId } = await create();
	const waiting = urlmode.waitForCompletion(elicitationId, owner);
	setTimeout(() => urlmode.complete(elicitationId, { ...owner, action: 'accept' }), 100);
	await waiting;
`;

for (const [name, body] of Object.entries({
	'after close': `${COMPLETED} await urlmode.close();`,
	'without close, when nobody waits': COMPLETED,
	'when nothing was ever done': '',
	'after a timeout': `
		const { elicitationId } = await create();
		await urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 50 }).catch(() => {});`,
	'after an abort in the middle of connecting': `
		const { elicitationId } = await create();
		const waiting = urlmode.waitForCompletion(elicitationId, { ...owner, signal: AbortSignal.timeout(1) });
		await waiting.catch(() => {});`,
	'while it listens for late payments': `
		urlmode.on('late', () => {});
		await new Promise((resolve) => setTimeout(resolve, 300));`,
	'at once after it began to listen for late payments': `
		urlmode.on('late', () => {});`,
	'after close with open waits': `
		const waits = (await Promise.all([create(), create()])).map((e) => urlmode.waitForCompletion(e.elicitationId, owner));
		setTimeout(() => urlmode.close(), 50);
		await Promise.allSettled(waits);`,
})) {
	test(`the process exits by itself ${name}`, async (t) => {
		const after = await run(t, body);
		assert.ok(after < EXITS_WITHIN_MS, `it took ${after} ms`);
	});
}

test('the process exits by itself if PostgreSQL is unavailable and nobody waits any more', async (t) => {
	const after = await run(t, `
		const id = '6f1c9a52-3f0e-4d1b-9c57-0f2f6f3b8a11';
		await urlmode.waitForCompletion(id, { ...owner, timeout: 300 }).catch(() => {});`,
	{ databaseUrl: 'postgresql://nobody@127.0.0.1:1/none' });
	assert.ok(after < EXITS_WITHIN_MS, `it took ${after} ms`);
});

test('an open wait keeps the process running until it is settled', async (t) => {
	await run(t, `
		const { elicitationId } = await create();
		let settled = false;
		urlmode.waitForCompletion(elicitationId, { ...owner, timeout: 700 }).catch(() => { settled = true; });
		process.on('exit', () => { if (!settled) process.exitCode = 3; });`);
});

test('a process that exits after a wait has marked the result as read', async (t) => {
	const id = randomUUID();
	const after = await run(t, `
		await create({ id: '${id}' });
		await urlmode.complete('${id}', { ...owner, action: 'accept', result: { code: 'c' } });
		await urlmode.waitForCompletion('${id}', owner);`);
	assert.ok(after < EXITS_WITHIN_MS, `it took ${after} ms`);
	const admin = await connect(t, requireUrl('URLMODE_ADMIN_DATABASE_URL'));
	const { rows } = await admin.query(`
		SELECT extract(epoch FROM due_at - now()) AS due FROM urlmode.purge_queue WHERE $1 = ANY (ids) ORDER BY due_at`, [id]);
	assert.equal(rows.length, 2, 'of the read, and of the completion');
	assert.ok(Number(rows[0].due) <= 600, `${rows[0].due} s`);
});

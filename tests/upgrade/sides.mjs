// What waits in the tests of upgrades: a package of one version, with the same calls. `create` is that of UrlMode in Node.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** @param {string} tree of the version @param {Record<string, string>} env the URLMODE_… variables */
export async function openNode(tree, env) {
	const { UrlMode } = await import(path.join(tree, 'lib/node/src/index.js'));
	return sideOf(new UrlMode({ databaseUrl: env.URLMODE_DATABASE_URL, keysFile: env.URLMODE_KEYS_FILE, baseUrl: env.URLMODE_BASE_URL }));
}

/** That of Node over HTTP, by the program `api`, of whatever version that is. */
export async function openHttp(tree, env) {
	const { UrlMode } = await import(path.join(tree, 'lib/node/src/http/index.js'));
	return sideOf(new UrlMode({ url: env.URLMODE_API_URL, key: env.URLMODE_API_KEY }));
}

function sideOf(urlmode) {
	return {
		create: (options) => urlmode.create(options),
		wait: (id, owner) => urlmode.waitForCompletion(id, { ...owner, timeout: Infinity }),
		complete: (id, owner, answer) => urlmode.complete(id, { ...owner, ...answer }),
		async deliver(id, owner) {
			const claim = await urlmode.beginClaim(id, owner);
			return claim.state === 'begun' ? ['begun', await claim.fulfil({ made: id }), await claim.confirm()] : [claim.state];
		},
		close: () => urlmode.close(),
	};
}

/** The same in Python. */
export function openPython(tree, env) {
	const child = spawn(path.join(ROOT, 'build/python/bin/python'), ['-B', fileURLToPath(new URL('side.py', import.meta.url))], {
		env: { ...process.env, ...env, PYTHONPATH: path.join(tree, 'lib/python/src') }, stdio: ['pipe', 'pipe', 'inherit'],
	});
	const open = new Map();
	const ended = new Promise((resolve) => {
		child.once('close', (code) => {
			for (const { reject } of open.values()) reject(new Error(`Python has ended with ${code}`));
			resolve();
		});
	});
	createInterface({ input: child.stdout }).on('line', (line) => {
		const { number, error, value } = JSON.parse(line);
		const { resolve, reject } = open.get(number);
		open.delete(number);
		if (error === undefined) resolve(value); else reject(new Error(error));
	});
	let last = 0;
	const call = (name, given) => new Promise((resolve, reject) => {
		open.set(last += 1, { resolve, reject });
		child.stdin.write(`${JSON.stringify({ number: last, call: name, given })}\n`);
	});
	return {
		create: ({ targetUrl, ...options }) => call('create', { ...options, target_url: targetUrl }),
		wait: (id, owner) => call('wait', { id, ...owner }),
		complete: (id, owner, answer) => call('complete', { id, ...owner, ...answer }),
		deliver: (id, owner) => call('deliver', { id, ...owner }),
		close() {
			child.stdin.end();
			return ended;
		},
	};
}

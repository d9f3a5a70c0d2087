// urlmode check where the console is set up: who nobody knows gets no further than its door, its login sees what waits, and each
// thing that is broken has a finding with its cause and what to do.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { IS_ROOT, changeFile, changeMode, checkedStack, finds, findsAll, inStack, reportOf, stack, undo, unit, well } from '../support/checked-stack.mjs';

/** The site that setup would have written, at the address of the stack's, whose nginx asks for no password, or at another one. */
async function site(listen = new URL(stack.env.URLMODE_CONSOLE_URL).host) {
	await mkdir(inStack('conf.d'), { recursive: true });
	undo.push(() => rm(inStack('conf.d'), { recursive: true, force: true }));
	await writeFile(inStack('conf.d/urlmode-console.conf'), `server {\n\tlisten ${listen};\n}\n`);
}

/** A web server that answers everything so. */
async function answering(status) {
	const server = createServer((request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
	undo.push(() => server.close());
	await once(server, 'listening');
	await site(`127.0.0.1:${server.address().port}`);
}

checkedStack('operate-command-check-of-the-console', async () => {
	if (!IS_ROOT) return;
	const { gid } = await stack.user();
	for (const name of ['console.json', 'console-keys']) {
		await chown(inStack(name), 0, gid);
		await chmod(inStack(name), 0o640);
	}
}, { CONSOLE: '1' });

test('all is well: it lets in nobody who is not known, and its login sees what waits', async () => {
	await finds('console', 'skipped', /^no site urlmode-console\.conf of nginx says where the console listens/);
	for (const [status, said] of [[401, 'nginx asks for a password at URL'], [303, 'it has operators sign in at URL'], [403, 'it lets in nobody who is not known at URL']]) {
		await answering(status);
		assert.deepEqual(well(await reportOf(['console']), 'console').map((text) => text.replace(/http:[^\s,]+/, 'URL')), [`${said}, and its login sees what waits`]);
	}
});

test('what is broken, each with its cause', async () => {
	await answering(200);
	await finds('console', 'error', /^it lets in whoever comes to http:/);
	await answering(404);
	await finds('console', 'error', /^what answers at http:\S+ with 404 is not the console$/);
	await site();
	await finds('console', 'error', /^the web server does not say who comes to http:\S+, so that nobody gets in$/);
	await stack.service('stop', 'console');
	undo.push(() => stack.service('start', 'console'));
	await finds('console', 'error', /^nginx gets no answer from the program: 502$/);
	await stack.service('start', 'console');
	await changeFile(inStack('console.json'), (text) => text.replace('"operators": [', '"operator": ['));
	await finds('console', 'error', /operator/);
	await undo.pop()();
	await changeFile(inStack('console.json'), (text) => text.replace(/urlmode_operator:[^@]*@/, 'urlmode_operator:wrong@'));
	await finds('console', 'error', /^the console's login is refused what its first page asks: .*password authentication failed/);
	await undo.pop()();
	await changeMode(inStack('console.json'), 0o644);
	await finds('console', 'error', /console\.json: others may read or write it/);
	await undo.pop()();
	await unit('urlmode-console.service', { ActiveState: 'failed', SubState: 'failed' });
	await findsAll([['units', 'error', /^urlmode-console\.service has failed: /]], {}, ['console']);
});

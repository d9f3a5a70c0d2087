// urlmode check: what it says of the address that browsers use, on a stack with TLS.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { test } from 'node:test';

import { freePorts } from '../stack/harness.mjs';
import { certify, changeConfig, checkedStack, finds, findsAll, findsInWhole, inStack, IS_ROOT, own, report, stack, undo } from '../support/checked-stack.mjs';

checkedStack('operate-command-outside');

async function restart() {
	await own();
	await stack.service('restart', 'nginx');
}

async function certified(...args) {
	undo.push(async () => {
		certify(30);
		await restart();
	});
	certify(...args);
	await restart();
}

test('a certificate that ends soon', async () => {
	await certified(5);
	await finds('certificate', 'warning', /ends within [45] days/);
});

test('a certificate that nobody trusts', async () => {
	await finds('certificate', 'error', /browsers will refuse it: .*self-signed/i, { SSL_CERT_FILE: '/nonexistent' });
});

test('nothing at that address', async () => {
	const [none] = await freePorts(1);
	await changeConfig((config) => { config.base_url = `https://localhost:${none}`; });
	await findsInWhole([
		['certificate', 'error', /no TLS at localhost/],
		['outside', 'error', /nothing answers at https:\/\/localhost/],
		['local', 'skipped', /nothing answers with TLS on 127\.0\.0\.1/],
	]);
});

test('another server at that address', async () => {
	const server = createServer({ key: await readFile(inStack('cert.key')), cert: await readFile(inStack('cert.pem')) },
		(request, response) => response.end('done'));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	undo.push(() => new Promise((resolve) => { server.close(resolve); }));
	await changeConfig((config) => { config.base_url = `https://localhost:${server.address().port}`; });
	await finds('outside', 'error', /no urlmode/);
});

test('another host of urlmode, whose log has not the request; a certificate for another name', async () => {
	await certified(30, 'other.example');
	await changeConfig((config) => { config.log_file = 'log/other.log'; });
	await writeFile(inStack('log/other.log'), '', { mode: 0o644 });
	if (IS_ROOT) {
		const { uid, gid } = await stack.user();
		await chown(inStack('log/other.log'), uid, gid);
	}
	await findsAll([
		['certificate', 'error', /browsers will refuse it: .*mismatch/i],
		['outside', 'warning', /not in the log of this host/],
	]);
});

test('for this machine alone it is skipped', async () => {
	await changeConfig((config) => { config.base_url = stack.baseUrl; });
	const { findings } = await report();
	assert.deepEqual(findings.filter(({ severity }) => severity === 'skipped').map((finding) => finding.check), ['local', 'certificate', 'outside']);
});

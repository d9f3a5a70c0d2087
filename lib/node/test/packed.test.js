// The package as `npm pack` makes it has all that it needs, beside its dependencies.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { scratchFolder } from './support/keys.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const execute = promisify(execFile);

test('the packed package finds the descriptions of providers', { timeout: 180_000 }, async (t) => {
	const folder = scratchFolder(t);
	const modules = join(folder, 'node_modules');
	await execute('npm', ['pack', '--pack-destination', folder], { cwd: PACKAGE });
	assert.equal(existsSync(join(PACKAGE, 'providers')), false, 'what was copied for the tarball is gone');
	mkdirSync(modules);
	const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
	await execute('tar', ['-xzf', join(folder, tarball), '-C', modules, '--transform', 's/^package/urlmode/']);
	for (const name of readdirSync(join(PACKAGE, 'node_modules'))) {
		if (!name.startsWith('.')) symlinkSync(join(PACKAGE, 'node_modules', name), join(modules, name));
	}
	writeFileSync(join(folder, 'index.mjs'), `
		import { connectAccount } from 'urlmode/mcp-lite';
		const connect = (provider) => connectAccount({ provider, client: { id: 'a' }, message: 'Please.' }).catch(({ message }) => message);
		console.log(JSON.stringify([await connect('notion'), await connect('nobody')]));
	`);
	const { stdout } = await execute(process.execPath, [join(folder, 'index.mjs')]);
	assert.deepEqual(JSON.parse(stdout), [
		'client.secret is required: this provider has no PKCE',
		`there is no description nobody: ${join(modules, 'urlmode/providers/nobody.json')} does not exist`,
	]);
	assert.ok(existsSync(join(modules, 'urlmode/types/adapters/connect-account.d.ts')));
	for (const name of ['LICENSE', 'changelog']) {
		assert.ok(existsSync(join(modules, 'urlmode', name)), name);
		assert.equal(existsSync(join(PACKAGE, name)), false, name);
	}
});

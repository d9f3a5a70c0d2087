// Emits the type declarations, and compiles a TypeScript server against them in a
// folder that contains no other types than those of Node.js.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'node:test';

import { scratchFolder } from './support/keys.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(PACKAGE, 'node_modules/typescript/bin/tsc');

function tsc(cwd, ...args) {
	return new Promise((resolve, reject) => execFile(process.execPath, [TSC, ...args], { cwd }, (error, output) =>
		(error ? reject(new Error(`tsc ${args.join(' ')}\n${output}`)) : resolve(output))));
}

test('the sources pass strict type checks, and a consumer compiles against the emitted types', async (t) => {
	const folder = scratchFolder(t);
	const installed = join(folder, 'node_modules/urlmode');
	mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
	mkdirSync(installed);
	await tsc(folder, '-p', PACKAGE, '--outDir', join(installed, 'types'));
	copyFileSync(join(PACKAGE, 'package.json'), join(installed, 'package.json'));
	for (const name of ['@types/node', 'undici-types']) {
		symlinkSync(join(PACKAGE, 'node_modules', name), join(folder, 'node_modules', name));
	}
	copyFileSync(join(PACKAGE, 'test/types/consumer.ts'), join(folder, 'consumer.ts'));
	writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
	for (const module of ['nodenext', 'esnext']) {
		await tsc(folder, '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--module', module,
			'--moduleResolution', module === 'esnext' ? 'bundler' : module, '--types', 'node',
			'consumer.ts');
	}
	for (const file of readdirSync(join(installed, 'types')).filter((name) => name.endsWith('.d.ts'))) {
		const code = readFileSync(join(installed, 'types', file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*|["']any["']/g, '');
		assert.doesNotMatch(code, /\bany\b/, `${file} has an any`);
	}
});

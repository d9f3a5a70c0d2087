// Runs MCP's conformance suite and our scenarios for URL mode against server.mjs,
// on a stack: make conformance. EXPECTED-REVISION.yml says what is expected to fail.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startInstance } from '../support/instances.mjs';
import { example, makeProject } from '../support/projects.mjs';
import { openFixture } from '../support/fixture.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const NODE = join(HERE, `node_modules/node-linux-${process.arch}/bin/node`);
const SUITE = join(HERE, '../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const REVISIONS = ['2025-11-25', '2026-07-28'];

/** Runs a program of Node.js 22, and resolves to its exit status. */
function run(...args) {
	return new Promise((resolve, reject) => {
		const child = spawn(NODE, args, { cwd: join(HERE, '../../build'), stdio: ['ignore', 'inherit', 'inherit'] });
		child.once('error', reject);
		child.once('close', resolve);
	});
}

const file = (name) => readFileSync(join(HERE, name), 'utf8');
const fixture = await openFixture({ name: 'conformance' });
try {
	const project = makeProject({ name: 'conformance', frameworks: 'newest', files: {
		'server.mjs': file('server.mjs'), 'content.mjs': file('content.mjs'), 'inputs.mjs': file('inputs.mjs'), 'tasks.mjs': file('tasks.mjs'), 'app.mjs': example('app.mjs'),
	} });
	const { url } = fixture.closeAtEnd(await startInstance(project, fixture.stack));
	const statuses = [];
	for (const revision of REVISIONS) {
		console.log(`\n== MCP ${revision}`);
		statuses.push(await run(SUITE, 'server', '--url', url, '--requirements', revision,
			'--expected-failures', join(HERE, `EXPECTED-${revision}.yml`), '--output-dir', 'test/conformance'));
	}
	console.log('\n== URL mode');
	statuses.push(await run(join(HERE, 'harness/run.mjs'), url));
	process.exitCode = statuses.every((status) => status === 0) ? 0 : 1;
} finally {
	await fixture.close();
}

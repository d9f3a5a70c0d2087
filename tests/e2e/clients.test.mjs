// What clients make of each shape of an answer, against the table in
// lib/node/ADAPTERS.md. Those of Go run with `make clients`, which installs them, and alone
// in the suite `go`, which has built them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { connectSdk1, connectSdk2 } from '../support/clients.mjs';
import { makeProject } from '../support/projects.mjs';
import { LEGACY, MODERN, startServer } from '../clients/server.mjs';

const ROOT = path.join(import.meta.dirname, '../..');
const CLIENTS_FOLDER = path.join(ROOT, 'tests/clients');
const PYTHON = path.join(ROOT, 'build/python/bin/python');
const GO = process.env.GO_CLIENTS ?? path.join(ROOT, 'build/clients/go/clients');
const PROGRAM_TIMEOUT = 60_000;

/** The columns of the table after the client, with the revision and the shape of server.mjs. */
const COLUMNS = [
	[MODERN, 'state'], [MODERN, 'empty-map'], [MODERN, 'requests'], [MODERN, 'requests-again'], [MODERN, '-32021'],
	[LEGACY, '-32042'], [LEGACY, 'pending'],
];

function typeScript(frameworks, connect) {
	const project = makeProject({ name: 'clients', frameworks });
	return async (url, revision) => {
		const client = await connect(project, { url, token: 'none', legacy: revision === LEGACY });
		try {
			return await client.call('work').catch(() => ({ error: true }));
		} finally {
			await client.close();
		}
	};
}

const program = (file, ...args) => async (url, revision) => {
	const { stdout } = await promisify(execFile)(file, [...args, url, revision], { timeout: PROGRAM_TIMEOUT });
	return JSON.parse(stdout.trim().split('\n').at(-1));
};

const python = program(PYTHON, path.join(CLIENTS_FOLDER, 'python/client.py'));

/** The clients by their names in the table. */
const GO_CLIENTS = { 'Go 1.8.0': program(GO, 'official'), 'mcp-go 1.2.1': program(GO, 'mcp-go') };
const CLIENTS = process.env.GO_CLIENTS ? GO_CLIENTS : {
	'TypeScript 1.23.0': typeScript('oldest', connectSdk1),
	'TypeScript 1.32.2': typeScript('newest', connectSdk1),
	'TypeScript 2.0.0': typeScript('oldest', connectSdk2),
	'TypeScript 2.4.0': typeScript('newest', connectSdk2),
	...existsSync(PYTHON) && { 'Python 2.3.0': python },
	...existsSync(GO) && GO_CLIENTS,
};

function describeEnd({ text, error }, calls) {
	if (error) return calls > 1 ? `error after ${calls} calls` : 'error';
	if (text === '') return '**takes it for the result, which is empty**';
	return text === 'done' ? 'calls again' : 'takes it for the result';
}

/** The cells of a client's row. */
function rowOf(name) {
	const line = readFileSync(path.join(ROOT, 'lib/node/ADAPTERS.md'), 'utf8').split('\n').find((each) => each.startsWith(`| ${name} |`));
	assert.ok(line, `the table has no row ${name}`);
	return line.split('|').slice(2, -1).map((cell) => cell.trim());
}

for (const [name, call] of Object.entries(CLIENTS)) {
	test(`${name} does with each shape what the table says`, async (t) => {
		// Clients wait between their calls.
		const row = await Promise.all(COLUMNS.map(async ([revision, shape]) => {
			if (revision === MODERN && name.startsWith('TypeScript 1.')) return '–';
			const server = await startServer(revision, shape);
			t.after(server.close);
			return describeEnd(await call(server.url, revision), server.calls.length);
		}));
		assert.deepEqual(rowOf(name).slice(0, COLUMNS.length), row);
	});
}

test('the clients that `make clients` installs are those of the table', () => {
	const requirements = readFileSync(path.join(ROOT, 'lib/python/requirements.txt'), 'utf8');
	const modules = readFileSync(path.join(CLIENTS_FOLDER, 'go/go.mod'), 'utf8');
	for (const [name, text, pattern] of [
		['Python', requirements, /^mcp==(\S+)/m], ['Go', modules, /modelcontextprotocol\/go-sdk v(\S+)/], ['mcp-go', modules, /mark3labs\/mcp-go v(\S+)/],
	]) rowOf(`${name} ${pattern.exec(text)[1]}`);
});

// SPDX-License-Identifier: MIT
// A new provider is two files, its description and its deliveries. A copy of the tree gets both, and
// everything that lists providers has it then.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../..', import.meta.url));
const NAME = 'example-pay';

let tree;

/** The example of lib/providers, and a delivery of it as NEW.md shows it. */
const [, description] = /^```json\n([^]*?)^```/m.exec(readFileSync(join(TOP, 'lib/providers/README.md'), 'utf8'));
const [, headers, body] = /^ *```http\n([^]*?)\n\n *([^]*?)\n *```/m.exec(readFileSync(join(TOP, 'lib/providers/NEW.md'), 'utf8'));
const { id, event: type, charge } = JSON.parse(body);
const deliveries = {
	site: { secrets: ['s3cret'] },
	answer: { status: 200, body: 'OK', content_type: 'text/plain' },
	deliveries: [{
		name: 'captured', body, headers: Object.fromEntries(headers.trim().split('\n').map((line) => line.trim().toLowerCase().split(/: (.*)/s, 2))),
		verdict: 'good', events: [{ effect: 'paid', type, identity: id, id: charge.reference, reference: charge.id, amount: 1050, currency: charge.currency }],
	}],
};

const run = (command, ...args) => execFileSync(command, args, { cwd: tree, encoding: 'utf8' });

/** Runs some tests of a file in the copy. */
function passes(file, pattern, env = {}) {
	const { NODE_TEST_CONTEXT: ours, ...outer } = process.env;
	const { stdout } = spawnSync('node', ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`, file], { cwd: tree, encoding: 'utf8', env: { ...outer, ...env } });
	assert.match(stdout, /^# pass [1-9]/m, stdout);
	assert.match(stdout, /^# fail 0$/m, stdout);
}

before(() => {
	tree = join(mkdtempSync(join(tmpdir(), 'urlmode-new-provider-')), 'tree');
	mkdirSync(tree);
	execFileSync('sh', ['-c', 'tar -c --exclude=node_modules --exclude=build Makefile README.md cgi-bin lib nginx sql tests | tar -x -C "$1"', 'sh', tree], { cwd: TOP });
	for (const folder of ['tests', 'lib/node'])
		if (existsSync(join(TOP, folder, 'node_modules'))) symlinkSync(join(TOP, folder, 'node_modules'), join(tree, folder, 'node_modules'));
	mkdirSync(join(tree, 'build'));
	for (const folder of ['bin', 'libexec', 'tools', 'unit'])
		if (existsSync(join(TOP, 'build', folder))) symlinkSync(join(TOP, 'build', folder), join(tree, 'build', folder));
	writeFileSync(join(tree, `lib/providers/${NAME}.json`), description);
	writeFileSync(join(tree, `tests/deliveries/${NAME}.json`), JSON.stringify(deliveries));
});

after(() => rmSync(dirname(tree), { recursive: true, force: true }));

test('its deliveries are made, and read as expected by the command and the schema', () => {
	run('node', 'tests/deliveries/make.mjs');
	assert.deepEqual(JSON.parse(readFileSync(join(tree, `build/deliveries/${NAME}.json`))), { now: 1700000000000, ...deliveries });
	passes('tests/unit/check-delivery.test.mjs', NAME, { DELIVERIES: NAME });
	passes('tests/unit/schema.test.mjs', 'every description passes|every outcome|was compared');
});

test('a description without deliveries is named', () => {
	const file = `lib/providers/another-${NAME}.json`;
	writeFileSync(join(tree, file), description);
	const { status, stderr } = spawnSync('node', ['tests/deliveries/make.mjs'], { cwd: tree, encoding: 'utf8' });
	rmSync(join(tree, file));
	assert.equal(status, 1);
	assert.match(stderr, new RegExp(`tests/deliveries has neither another-${NAME}\\.mjs nor another-${NAME}\\.json`));
	run('node', 'tests/deliveries/make.mjs');
});

test('make contract writes it into the tables of the documents and the data of the packages', () => {
	run('make', '-s', 'contract');
	for (const file of ['node/src/core/contract-kinds.js', 'python/src/urlmode/_core/contract_kinds.py', 'go/contract_kinds.go', 'go/prices.json'])
		assert.match(readFileSync(join(tree, 'lib', file), 'utf8'), new RegExp(`["']${NAME}["']`), file);
	assert.match(readFileSync(join(tree, 'lib/providers/SHIPPED.md'), 'utf8'),
		/^\| `example-pay\.json` \| Example Pay \| payment \| HMAC-SHA256 in `example-signature` \(2023-11-01\) \| `\/charge\/reference` \| the whole body \|/m);
	passes('tests/unit/documents.test.mjs', 'tables of providers');
});

test('a stack is configured for it, and end-to-end tests have a sender and its kind', () => {
	const secrets = join(tree, 'stack/secrets');
	mkdirSync(secrets, { recursive: true });
	for (const login of ['postgres', 'urlmode_cgi', 'urlmode_server', 'urlmode_operator']) writeFileSync(join(secrets, login), 'x');
	const out = execFileSync('node', ['../tests/stack/config.mjs', 'base_url=http://127.0.0.1', 'user_check=none'], { cwd: dirname(secrets), encoding: 'utf8' });
	assert.deepEqual(JSON.parse(out).providers[NAME], { kind: 'payment', display_name: 'Example Pay', secrets: ['s3cret'] });
	assert.equal(run('node', '--input-type=module', '-e', `
		import { DESCRIBED, PROVIDERS } from './tests/support/deliveries.mjs';
		console.log(PROVIDERS.includes('${NAME}'), DESCRIBED.find(({ name }) => name === '${NAME}').kind);`), 'true payment\n');
});

test('it is installed', () => {
	const target = join(dirname(tree), 'target');
	// What make would build: the list is what counts.
	for (const file of [...readdirSync(join(tree, 'cgi-bin')).map((name) => `bin/${name.replace(/\.c$/, '')}`), 'libexec/operate',
		...readdirSync(join(tree, 'nginx/man')).filter((name) => name.endsWith('.in')).map((name) => `man/${name.slice(0, -3)}`)]) {
		mkdirSync(dirname(join(tree, 'build/release', file)), { recursive: true });
		writeFileSync(join(tree, 'build/release', file), '');
	}
	const [, names] = /^FOLDERS = \$\(foreach name,([^]*?),\$/m.exec(readFileSync(join(tree, 'nginx/install.mk'), 'utf8'));
	execFileSync('nginx/install', ['install', ...names.split(/[\s\\]+/).filter(Boolean).map((name) => `${name}=/${name}`)],
		{ cwd: tree, env: { ...process.env, DESTDIR: target }, stdio: 'pipe' });
	assert.equal(readFileSync(join(target, `datadir/urlmode/providers/${NAME}.json`), 'utf8'), description);
});

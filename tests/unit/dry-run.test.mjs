// SPDX-License-Identifier: MIT
// webhook --check --delivery: what it says of the README's example and of every
// delivery of tests/deliveries.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const top = new URL('../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, top), 'utf8');
const fileOf = (path) => fileURLToPath(new URL(path, top));
const PROGRAM = fileOf(`${process.env.PROGRAM_DIR ?? 'build/bin'}/webhook`);

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'urlmode-dry-run-')); });
after(() => rmSync(folder, { recursive: true }));

function run(...args) {
	const { status, stdout, stderr } = spawnSync(PROGRAM, ['--check', ...args], { cwd: folder, encoding: 'utf8', env: {} });
	return { status, stdout, stderr };
}

const save = (name, text) => writeFileSync(join(folder, name), text, { mode: 0o600 });

/** The blocks of the README in this language, without the indent of a list. */
const blocks = (language) => [...read('lib/providers/README.md').matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)\\n\\1\`\`\``, 'gm'))]
	.map(([, indent, text]) => text.split('\n').map((line) => line.slice(indent.length)).join('\n'));

describe("the README's example", () => {
	const commands = blocks('sh').map((line) => line.replace(/ >.*/, '').split(' ').slice(2));

	before(() => {
		save('example-pay.json', blocks('json')[0]);
		save('delivery.txt', blocks('http')[0]);
		save('unsigned.txt', blocks('http')[0].replace(/^Example-Signature.*\n/m, ''));
	});

	test('says what it says', () => {
		const { status, stdout, stderr } = run(...commands[0]);
		assert.equal(stderr, '');
		assert.equal(stdout.trimEnd(), blocks('text').at(-1));
		assert.equal(status, 0);
	});

	test('signs, and then is right', () => {
		const { status, stdout } = run(...commands[1], '--at', '1700000000');
		assert.equal(status, 0);
		assert.equal(stdout.toLowerCase().split('\n\n')[0], blocks('http')[0].toLowerCase().split('\n\n')[0]);
		save('signed.txt', stdout);
		assert.match(run('--delivery', 'signed.txt', ...commands[0].slice(2)).stdout, /^verdict: good$/m);
	});

	for (const [name, change, said] of [
		['a line end of an editor', (text) => `${text}\n`, /^!! .* without the line end at its end: .* byte 181 of the body\.$/m],
		['blanks of a dashboard', (text) => text.replace(/\{.*/, (body) => JSON.stringify(JSON.parse(body), null, 2)),
			/^!! .* as JSON without blanks and line ends: .* byte 1 of the body\.$/m],
	]) {
		test(`${name} is told from another body`, () => {
			save('changed.txt', change(blocks('http')[0]));
			const { status, stdout } = run('--delivery', 'changed.txt', ...commands[0].slice(2));
			assert.match(stdout, /^scheme 0: hmac-sha256, wrong$/m);
			assert.match(stdout, /^verdict: forged$/m);
			assert.match(stdout, said);
			assert.equal(status, 1);
		});
	}

	test('another body is not told from anything', () => {
		save('changed.txt', blocks('http')[0].replace('10.50', '99.50'));
		assert.doesNotMatch(run('--delivery', 'changed.txt', ...commands[0].slice(2)).stdout, /!!/);
	});

	test('an old delivery is stale without --at', () => {
		assert.match(run(...commands[0].slice(0, -2)).stdout, /^verdict: stale$/m);
	});

	test('what a terminal would act on is shown as text', () => {
		save('bell.txt', blocks('http')[0].replace('evt_1', 'evt_\u0007\u001b[31m'));
		const { stdout } = run('--delivery', 'bell.txt', ...commands[0].slice(2));
		assert.match(stdout, /evt_\\x07\\x1b\[31m/);
		assert.doesNotMatch(stdout, /[\u0007\u001b]/);
	});
});

test('arguments that make no sense', () => {
	for (const args of [['--delivery'], ['--delivery', 'x'], ['--delivery', 'x', '--provider', 'a', '--description', 'b'],
		['--delivery', 'x', '--provider', 'a', '--secret', 's'], ['--delivery', 'x', '--description', 'b', '--at', 'noon'],
		['--delivery', 'x', '--description', 'b', '--constant', 'name']]) {
		const { status, stdout, stderr } = run(...args);
		assert.deepEqual([status, stdout], [2, ''], args.join(' '));
		assert.match(stderr, /^usage: webhook --check --delivery FILE/);
	}
	assert.match(run('--delivery', 'none.txt', '--description', 'example-pay.json', '--secret', 's').stderr, /none\.txt: No such file/);
	save('broken.txt', 'no header\n\n');
	assert.match(run('--delivery', 'broken.txt', '--description', 'example-pay.json', '--secret', 's').stderr,
		/broken\.txt:1: is not `Name: value`/);
	save('account.json', blocks('json')[4]);
	const account = run('--delivery', 'delivery.txt', '--description', 'account.json');
	assert.deepEqual([account.status, account.stdout, account.stderr], [1, '', 'urlmode webhook: account.json: has no webhook\n']);
});

test('with a provider of the configuration', () => {
	save('keys', `1 ${Buffer.alloc(32).toString('base64')}\n`);
	save('config.json', JSON.stringify({
		base_url: 'https://pay.example', keys_file: 'keys', database_url: 'postgresql:///x',
		providers_dir: folder, providers: { 'example-pay': { kind: 'payment', secrets: ['s3cret'] } },
	}));
	const { status, stdout, stderr } = spawnSync(PROGRAM, ['--check', '--delivery', 'delivery.txt', '--provider', 'example-pay',
		'--at', '2023-11-14T22:13:23Z'], { cwd: folder, encoding: 'utf8', env: { URLMODE_CONFIG: join(folder, 'config.json') } });
	assert.equal(stderr, '');
	assert.match(stdout, /^verdict: good$/m);
	assert.equal(status, 0);
});

const examples = new Set(readdirSync(new URL('tests/descriptions/', top)));
for (const file of readdirSync(new URL('tests/deliveries/', top)).filter((name) => name.endsWith('.json'))) {
	const { now, site, deliveries } = JSON.parse(read(`tests/deliveries/${file}`));
	if (site.accounts || site.mode) continue;
	const more = [
		...(site.secrets ?? []).flatMap((secret) => ['--secret', secret]),
		...Object.entries(site.constants ?? {}).flatMap(([name, value]) => [value].flat().flatMap((one) => ['--constant', `${name}=${one}`])),
		...site.certificate ? ['--certificate', fileOf(site.certificate)] : [],
		...site.return_secrets ? [] : [],
	];

	test(`${file}: each delivery has the verdict of um_spec_read()`, () => {
		for (const { name, headers, content_type, query = '', body = '', verdict, method = 'POST' } of deliveries) {
			if (method !== 'POST') continue;
			save('one.txt', `POST /webhook/x${query && `?${query}`} HTTP/1.1\r\n${
				Object.entries({ ...headers, ...content_type && { 'content-type': content_type } })
					.map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n${body}`);
			const { status, stdout, stderr } = run('--delivery', 'one.txt', '--at', new Date(now).toISOString(), ...more,
				'--description', fileOf(`${examples.has(file) ? 'tests/descriptions' : 'lib/providers'}/${file}`));
			assert.equal(stderr, '', name);
			assert.match(stdout, new RegExp(`^verdict: ${verdict}(, .*)?$`, 'm'), name);
			assert.equal(status, verdict === 'good' ? 0 : 1, name);
		}
	});
}

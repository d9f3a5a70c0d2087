// SPDX-License-Identifier: MIT
// urlmode delivery: its output for the example of lib/providers/NEW.md and for every delivery of
// tests/deliveries.
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
const PROGRAM = fileOf(`${process.env.PROGRAM_DIR ?? 'build/bin'}/../libexec/operate`);

let folder;
before(() => { folder = mkdtempSync(join(tmpdir(), 'urlmode-dry-run-')); });
after(() => rmSync(folder, { recursive: true }));

function run(...args) {
	const { status, stdout, stderr } = spawnSync(PROGRAM, ['delivery', ...args], { cwd: folder, encoding: 'utf8', env: {} });
	return { status, stdout, stderr };
}

const save = (name, text) => writeFileSync(join(folder, name), text, { mode: 0o600 });

/** The blocks of a document in this language, without the indent of a list. */
const blocks = (language, document = 'NEW') => [...read(`lib/providers/${document}.md`).matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)\\n\\1\`\`\``, 'gm'))]
	.map(([, indent, text]) => text.split('\n').map((line) => line.slice(indent.length)).join('\n'));

describe("the documents' example", () => {
	const commands = blocks('sh').map((line) => line.replace(/ >.*/, '').split(' ').slice(2));
	const options = commands[0].slice(0, -1);

	before(() => {
		save('example-pay.json', blocks('json', 'README')[0]);
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
		assert.match(run(...options, 'signed.txt').stdout, /^verdict: good$/m);
	});

	for (const [name, change, said] of [
		['a line end of an editor', (text) => `${text}\n`, /^!! .* without the line end at its end: .* byte 181 of the body\.$/m],
		['blanks of a dashboard', (text) => text.replace(/\{.*/, (body) => JSON.stringify(JSON.parse(body), null, 2)),
			/^!! .* as JSON without blanks and line ends: .* byte 1 of the body\.$/m],
	]) {
		test(`${name} is told from another body`, () => {
			save('changed.txt', change(blocks('http')[0]));
			const { status, stdout } = run(...options, 'changed.txt');
			assert.match(stdout, /^scheme 0: hmac-sha256, wrong$/m);
			assert.match(stdout, /^verdict: forged$/m);
			assert.match(stdout, said);
			assert.equal(status, 1);
		});
	}

	test('another body is not told from anything', () => {
		save('changed.txt', blocks('http')[0].replace('10.50', '99.50'));
		assert.doesNotMatch(run(...options, 'changed.txt').stdout, /!!/);
	});

	test('an old delivery is stale without --at', () => {
		assert.match(run(...options.slice(0, -2), 'delivery.txt').stdout, /^verdict: stale$/m);
	});

	test('what a terminal would act on is shown as text', () => {
		save('bell.txt', blocks('http')[0].replace('evt_1', 'evt_\u0007\u001b[31m'));
		const { stdout } = run(...options, 'bell.txt');
		assert.match(stdout, /evt_\\x07\\x1b\[31m/);
		assert.doesNotMatch(stdout, /[\u0007\u001b]/);
	});
});

test('arguments that make no sense', () => {
	const given = ['--description', 'b'];
	for (const [args, said] of [
		[given, 'which FILE?'], [['x'], 'either --provider or --description'], [['--provider', 'a', ...given, 'x'], 'either --provider or --description'],
		[['--provider', 'a', '--secret', 's', 'x'], '--secret, --constant and --certificate belong to --description; a provider has its own'],
		[[...given, '--at', 'noon', 'x'], '--at is no option, or has no such value'],
		[[...given, '--constant', 'name', 'x'], '--constant is no option, or has no such value'],
		[[...given, '--colour', 'blue', 'x'], '--colour is no option, or has no such value'],
		[[...given, ...Array(9).fill(['--secret', 's3cret']).flat(), 'x'], '--secret is no option, or has no such value'],
		[[...given, 'x', '--secret'], '--secret is no option, or has no such value'], [[...given, 'x', 'y'], 'one FILE at a time'],
	]) {
		assert.deepEqual(run(...args), { status: 64, stdout: '', stderr: `urlmode: ${said}\n` }, args.join(' '));
	}
	assert.match(run('--description', 'example-pay.json', '--secret', 's', 'none.txt').stderr, /none\.txt: No such file/);
	save('broken.txt', 'no header\n\n');
	assert.match(run('--description', 'example-pay.json', '--secret', 's', 'broken.txt').stderr,
		/broken\.txt:1: is not `Name: value`/);
	save('account.json', blocks('json', 'ACCOUNTS')[0]);
	const account = run('--description', 'account.json', 'delivery.txt');
	assert.deepEqual([account.status, account.stdout, account.stderr], [1, '', 'urlmode: account.json: has no webhook\n']);
});

test('with a provider of the configuration', () => {
	save('keys', `1 ${Buffer.alloc(32).toString('base64')}\n`);
	save('config.json', JSON.stringify({
		base_url: 'https://pay.example', keys_file: 'keys', database_url: 'postgresql:///x',
		providers_dir: folder, providers: { 'example-pay': { kind: 'payment', secrets: ['s3cret'] } },
	}));
	const { status, stdout, stderr } = spawnSync(PROGRAM, ['delivery', 'delivery.txt', '--provider', 'example-pay',
		'--at', '2023-11-14T22:13:23Z'], { cwd: folder, encoding: 'utf8', env: { URLMODE_CONFIG: join(folder, 'config.json') } });
	assert.equal(stderr, '');
	assert.match(stdout, /^verdict: good$/m);
	assert.equal(status, 0);
});

/** What of a good delivery is changed, and why its signature is not right then. */
for (const [file, change, said] of [
	['stripe', (text) => text.replace('v1=', 'v2='), 'has no parameter of this name'],
	['stripe', (text) => text.replace(/stripe-signature: .*\r/, 'stripe-signature: nothing\r'), 'does not consist of parameters'],
	['stripe', (text) => text.replace(/v1=../, 'v1=zz'), 'is not hex or base64, as the description says'],
	['stripe', (text) => text.replace(/v1=../, 'v1=00'), 'is not that of this text and secret'],
	['github', (text) => text.replace('sha256=', 'sha1='), 'does not begin with the prefix'],
	['paypal', (text) => text, 'cannot be verified: no certificate is valid now'],
]) {
	test(`${file}: the signature ${said}`, () => {
		const { now, site: { secrets = [], constants = {}, certificate }, deliveries: [{ headers, body }] } = JSON.parse(read(`tests/deliveries/${file}.json`));
		const at = said.includes('certificate') ? new Date(Date.UTC(2400, 0)) : new Date(now);
		save('one.txt', change(`POST /webhook/x HTTP/1.1\r\n${Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n${body}`));
		const { stdout } = run('one.txt', '--at', at.toISOString(), '--description', fileOf(`lib/providers/${file}.json`),
			...secrets.flatMap((secret) => ['--secret', secret]), ...certificate ? ['--certificate', fileOf(certificate)] : [],
			...Object.entries(constants).flatMap(([name, value]) => ['--constant', `${name}=${value}`]));
		assert.match(stdout, new RegExp(`^  The signature ${said}`, 'm'));
		assert.equal(/^verdict: forged, \/verify: no certificate is valid now$/m.test(stdout), said.includes('certificate'));
	});
}

const examples = new Set(readdirSync(new URL('tests/deliveries/descriptions/', top)));
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
			const { status, stdout, stderr } = run('one.txt', '--at', new Date(now).toISOString(), ...more,
				'--description', fileOf(`${examples.has(file) ? 'tests/deliveries/descriptions' : 'lib/providers'}/${file}`));
			assert.equal(stderr, '', name);
			assert.match(stdout, new RegExp(`^verdict: ${verdict}(, .*)?$`, 'm'), name);
			assert.equal(status, verdict === 'good' ? 0 : 1, name);
		}
	});
}

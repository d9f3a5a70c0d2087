// SPDX-License-Identifier: MIT
// urlmode delivery: its output for the example of lib/providers/NEW.md and for every delivery of
// build/deliveries, or of the files that DELIVERIES names.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
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
		[['--provider', 'a', '--secret', 's', 'x'], '--secret, --constant, --certificate and --jwks belong to --description; a provider has its own'],
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

test('what was paid, for a provider of another kind than payment', () => {
	const { now, site: { secrets }, deliveries } = JSON.parse(read('build/deliveries/stripe.json'));
	const paid = deliveries.find(({ verdict, events: [event] = [] }) => verdict === 'good' && event?.effect === 'paid' && event.amount !== undefined);
	save('keys', `1 ${Buffer.alloc(32).toString('base64')}\n`);
	for (const kind of ['payment', 'signature']) {
		save('config.json', JSON.stringify({
			base_url: 'https://pay.example', keys_file: 'keys', database_url: 'postgresql:///x',
			providers_dir: fileOf('lib/providers'), providers: { stripe: { kind, secrets } },
		}));
		save('one.txt', fileOfDelivery(paid));
		const { stdout } = spawnSync(PROGRAM, ['delivery', 'one.txt', '--provider', 'stripe', '--at', new Date(now).toISOString()],
			{ cwd: folder, encoding: 'utf8', env: { URLMODE_CONFIG: join(folder, 'config.json') } });
		assert.match(stdout, /^ {2}effect {7}paid: /m);
		assert.equal(/^ {15}The provider is not of the kind payment: nothing is accepted, and the money is listed as unclaimed\.$/m.test(stdout), kind !== 'payment');
	}
});

/** What of a good delivery is changed, and why its signature is not right then. */
for (const [file, change, said] of [
	['stripe', (text) => text.replace('v1=', 'v2='), 'has no parameter `v1`\\.$'],
	['stripe', (text) => text.replace(/stripe-signature: .*\r/, 'stripe-signature: nothing\r'), 'does not consist of parameters'],
	['stripe', (text) => text.replace(/v1=../, 'v1=zz'), 'is not hexadecimal, all in one case\\.$'],
	['docusign', (text) => text.replace(/(signature-1: )../, '$1!!'), 'is not base64\\.$'],
	['stripe', (text) => text.replace(/v1=../, 'v1=00'), 'is not that of this text and secret'],
	['github', (text) => text.replace('sha256=', 'sha1='), 'does not begin with the prefix `sha256=`\\.$'],
	['paypal', (text) => text, 'cannot be verified: the certificate is not valid now\\.\\n  The last certificate is valid until 2\\d{3}-\\d\\d-\\d\\dT[\\d:]{8}Z\\.$'],
]) {
	test(`${file}: the signature ${said}`, () => {
		const { now, site: { secrets = [], constants = {}, certificate }, deliveries: [{ headers, body }] } = JSON.parse(read(`build/deliveries/${file}.json`));
		const at = said.includes('certificate') ? new Date(Date.UTC(2400, 0)) : new Date(now);
		save('one.txt', change(`POST /webhook/x HTTP/1.1\r\n${Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n${body}`));
		const { stdout } = run('one.txt', '--at', at.toISOString(), '--description', fileOf(`lib/providers/${file}.json`),
			...secrets.flatMap((secret) => ['--secret', secret]), ...certificate ? ['--certificate', fileOf(certificate)] : [],
			...Object.entries(constants).flatMap(([name, value]) => ['--constant', `${name}=${value}`]));
		assert.match(stdout, new RegExp(`^  The signature ${said}`, 'm'));
		assert.match(stdout, said.includes('certificate') ? /^verdict: outdated, \/verify: the certificate is not valid now$/m : /^verdict: (forged|unsigned)$/m);
	});
}

/** An HMAC of Square, whose body is signed after the address. */
const SQUARE = ['--description', fileOf('lib/providers/square.json'), '--secret', 'square-key'];
const ADDRESS = 'https://pay.example.com/webhook/square';

describe('what was signed is not quite what is in the file', () => {
	const signed = (body, change = () => body, address = ADDRESS, right = ADDRESS) => {
		const signature = createHmac('sha256', 'square-key').update(Buffer.concat([Buffer.from(right), Buffer.from(body)])).digest('base64');
		writeFileSync(join(folder, 'one.txt'), Buffer.concat([Buffer.from(`x-square-hmacsha256-signature: ${signature}\r\n\r\n`), Buffer.from(change(body))]), { mode: 0o600 });
		return run('one.txt', ...SQUARE, '--constant', `notification_url=${address}`).stdout;
	};
	const event = { event_id: 'e1', type: 'payment.updated', data: { object: { payment: { note: 'über a/b', id: 'p1' } } } };
	const ascii = (text) => text.replaceAll(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
	const compact = JSON.stringify(event);
	const spaced = JSON.stringify(event, undefined, 1).replaceAll(/\n */g, ' ').replaceAll('{ ', '{').replaceAll(' }', '}');

	for (const [name, sent, kept, said] of [
		['a line end', compact, `${compact}\n`, 'without the line end at its end'],
		['no line end', `${compact}\n`, compact, 'with a line end at its end'],
		['carriage returns', '{\n}', '{\r\n}', 'without carriage returns'],
		['no carriage returns', '{\r\n}', '{\n}', 'with a carriage return before each line end'],
		['a byte order mark', compact, `\ufeff${compact}`, 'without the byte order mark at its beginning'],
		['Latin-1', compact, Buffer.from(compact, 'latin1'), 'in UTF-8, where the file is in Latin-1'],
		['blanks', compact, JSON.stringify(event, undefined, 2), 'as JSON without blanks and line ends'],
		['slashes', compact.replaceAll('/', '\\/'), compact, 'as JSON without blanks, with \\/ for each slash'],
		['escapes', ascii(compact), compact, 'as JSON without blanks, with \\u for what is not ASCII'],
		['escapes and slashes', ascii(compact).replaceAll('/', '\\/'), compact, 'as JSON without blanks, with \\/ and \\u'],
		['no blanks', spaced, compact, 'as JSON with a blank after each comma and colon'],
		['no blanks and no escapes', ascii(spaced), compact, 'as JSON with such blanks, and \\u for what is not ASCII'],
	]) {
		test(`${name}`, () => {
			assert.match(signed(sent), /^verdict: (good|malformed.*)$/m);
			const stdout = signed(sent, () => kept);
			assert.match(stdout, /^verdict: forged$/m);
			assert.deepEqual([...stdout.matchAll(/^!! The signature is right for the body (.*?): the file differs/gm)].map(([, one]) => one), [said]);
		});
	}

	test('an address without its slash, and one with a slash too many', () => {
		for (const [address, right] of [[`${ADDRESS}/`, ADDRESS], [ADDRESS, `${ADDRESS}/`]]) {
			const stdout = signed(compact, () => compact, address, right);
			assert.ok(stdout.includes(`!! The signature is right for the address ${right}, which the provider has: the constant here is ${address}.\n`), stdout);
		}
	});

	test('a secret with a line end, which no program takes either', () => {
		signed(compact);
		for (const secret of ['square-key\n', ' square-key', 'square-key\r\n', 'square-\nkey']) {
			const { status, stderr } = run('one.txt', '--description', fileOf('lib/providers/square.json'), '--secret', secret, '--constant', `notification_url=${ADDRESS}`);
			assert.match(stderr, /secret 1 of the configuration begins or ends with a blank or a line end/);
			assert.equal(status, 1);
		}
	});

	test('a header block or an empty line that is missing', () => {
		for (const [text, said] of [
			[compact, /one\.txt:1: is the body: an empty line must stand before it, and the headers before that$/m],
			[`x-square-hmacsha256-signature: x\n${compact}`, /one\.txt:2: is the body: /],
			['[1]', /one\.txt:1: is the body: /],
		]) {
			save('one.txt', text);
			assert.match(run('one.txt', ...SQUARE, '--constant', `notification_url=${ADDRESS}`).stderr, said);
		}
		save('one.txt', 'x-square-hmacsha256-signature: x\n');
		assert.match(run('one.txt', ...SQUARE, '--constant', `notification_url=${ADDRESS}`).stdout, /^!! No empty line ends the headers: the file has no body\.$/m);
	});
});

describe('a provider that has another key or another header than its description', () => {
	const body = '{"type":"payment.succeeded","data":{}}';
	const now = 1700000000;
	const random = Buffer.alloc(24, 'k').toString('base64');
	const text = `whsec_${random}`;
	/** Standard Webhooks with this form of the key, and these headers' names. */
	const description = (as, prefix = 'webhook-', more = {}) => ({
		name: 'n', documentation: 'd', trust: 'body', type: { json: '/type' }, outcomes: [{ effect: 'ignore' }],
		verify: [{
			algorithm: 'hmac-sha256', key: { as, ...more }, signed: [{ header: `${prefix}id` }, '.', { header: `${prefix}timestamp` }, '.', { body: 'raw' }],
			signature: { from: { header: `${prefix}signature` }, field: 'v1', between: ' ', equals: ',', as: 'base64' },
		}],
	});
	const said = (described, key, { prefix = 'webhook-', signature = `${prefix}signature`, secret = text, also = [] } = {}) => {
		save('one.json', JSON.stringify(described));
		const mac = createHmac('sha256', key).update(`m1.${now}.${body}`).digest('base64');
		save('one.txt', `${prefix}id: m1\n${prefix}timestamp: ${now}\nother: x\n${signature}: v1,${mac}\n\n${body}`);
		const { stdout, status } = run('one.txt', '--description', 'one.json', '--secret', secret, ...also);
		assert.equal(status === 0, /^verdict: good$/m.test(stdout));
		return { verdict: /^verdict: (\w+)/m.exec(stdout)[1], lines: stdout.match(/^!! Scheme .*$/gm) ?? [] };
	};
	const decoded = Buffer.from(random, 'base64');
	const right = (what) => [`!! Scheme 0: the signature is right${what}. The provider has changed, or the description is another provider's.`];

	for (const [title, as, more, key, secret, words] of [
		['the text with its prefix, which is decoded', 'utf8', {}, decoded, text, 'is what the secret after its prefix stands for in base64'],
		['the text without its prefix, which is decoded', 'utf8', { prefix: 'whsec_' }, decoded, text, 'is what the secret after its prefix stands for in base64'],
		['what is decoded, of which the text is the key', 'base64', { prefix: 'whsec_' }, text, text, 'is the whole text of the secret'],
		['what is decoded, of which the text without its prefix is the key', 'base64', { prefix: 'whsec_' }, random, text, 'is the text of the secret after its prefix'],
		['the text, of which base64 is decoded', 'utf8', {}, decoded, random, 'is what the secret stands for in base64'],
		['the text, of which hexadecimal digits are decoded', 'utf8', {}, Buffer.alloc(32, 7), '07'.repeat(32), 'is what the secret stands for in hexadecimal'],
	]) {
		test(`the key is ${title}`, () => {
			const { verdict, lines } = said(description(as, 'webhook-', more), key, { secret });
			assert.equal(verdict, 'forged');
			assert.deepEqual(lines, right(`, if the key ${words} (secret 1)`));
		});
	}

	test('the second secret is meant', () => {
		assert.deepEqual(said(description('utf8'), decoded, { secret: 'another', also: ['--secret', text] }).lines,
			right(', if the key is what the secret after its prefix stands for in base64 (secret 2)'));
	});

	for (const [title, described, sent, words] of [
		['of Svix, in place of those of Standard Webhooks', 'webhook-', { prefix: 'svix-' }, ' in headers whose names begin with `svix-`, not with `webhook-`'],
		['of Standard Webhooks, in place of those of Svix', 'svix-', { prefix: 'webhook-' }, ' in headers whose names begin with `webhook-`, not with `svix-`'],
		['without X-', 'x-pay-', { prefix: 'pay-' }, ' in headers whose names do not begin with `x-`'],
		['with X-', 'pay-', { prefix: 'x-pay-' }, ' in headers whose names begin with `x-`'],
		['of another name', 'webhook-', { signature: 'pay-hmac' }, ' in the header pay-hmac, not in webhook-signature'],
	]) {
		test(`the header is one ${title}`, () => {
			const { verdict, lines } = said(description('utf8', described), text, sent);
			assert.equal(verdict, 'unsigned');
			assert.deepEqual(lines, right(words));
		});
	}

	test('both have changed, and neither has: somebody else has signed', () => {
		assert.deepEqual(said(description('utf8', 'x-pay-'), decoded, { prefix: 'pay-' }).lines,
			right(' in headers whose names do not begin with `x-`, and the key is what the secret after its prefix stands for in base64 (secret 1)'));
		assert.deepEqual(said(description('utf8'), 'guessed'), { verdict: 'forged', lines: [] });
		assert.deepEqual(said(description('utf8'), text), { verdict: 'good', lines: [] });
	});

	test('of a provider of the configuration, whose secrets are read again', () => {
		assert.equal(said(description('utf8'), decoded).verdict, 'forged');
		save('keys', `1 ${Buffer.alloc(32).toString('base64')}\n`);
		save('config.json', JSON.stringify({
			base_url: 'https://pay.example', keys_file: 'keys', database_url: 'postgresql:///x', providers_dir: folder,
			providers: { one: { kind: 'payment', secrets: [text] } },
		}));
		const { stdout } = spawnSync(PROGRAM, ['delivery', 'one.txt', '--provider', 'one'], { cwd: folder, encoding: 'utf8', env: { URLMODE_CONFIG: join(folder, 'config.json') } });
		assert.deepEqual(stdout.match(/^!! Scheme .*$/gm), right(', if the key is what the secret after its prefix stands for in base64 (secret 1)'));
		assert.ok(!stdout.includes(random));
	});
});

/** The file of a delivery, as it is saved. */
const fileOfDelivery = ({ headers, content_type, query = '', body = '' }, line = 'POST /webhook/x') => `${line}${query && `?${query}`} HTTP/1.1\r\n${
	Object.entries({ ...headers, ...content_type && { 'content-type': content_type } }).map(([key, value]) => `${key}: ${value}\r\n`).join('')}\r\n${body}`;

const examples = new Set(readdirSync(new URL('tests/deliveries/descriptions/', top)));
const wanted = process.env.DELIVERIES?.split(' ').map((name) => `${name}.json`);
/** What differs from the verdict of um_spec_read(), where it is not the certificate. */
for (const file of readdirSync(new URL('build/deliveries/', top)).filter((name) => name.endsWith('.json'))) {
	const { now, site, deliveries, returns = [] } = JSON.parse(read(`build/deliveries/${file}`));
	if (site.accounts || site.mode || (wanted && !wanted.includes(file))) continue;
	const description = `${examples.has(file) ? 'tests/deliveries/descriptions' : 'lib/providers'}/${file}`;
	const { verify, return: back } = JSON.parse(read(description));
	const at = new Date(now).toISOString();
	const more = (secrets = []) => [
		...secrets.flatMap((secret) => ['--secret', secret]), '--description', fileOf(description), '--at', at,
		...Object.entries(site.constants ?? {}).flatMap(([name, value]) => [value].flat().flatMap((one) => ['--constant', `${name}=${one}`])),
		...site.certificate ? ['--certificate', fileOf(site.certificate)] : [], ...site.jwks_file ? ['--jwks', fileOf(site.jwks_file)] : [],
	];
	const check = (line, list, secrets) => {
		for (const { verdict, name, reply, ...delivery } of list) {
			save('one.txt', fileOfDelivery(delivery, line));
			const { status, stdout, stderr } = run('one.txt', ...more(secrets));
			assert.equal(stderr, '', name);
			assert.match(stdout, new RegExp(`^verdict: ${verdict}(, .*)?$`, 'm'), name);
			assert.equal(status, verdict === 'good' ? 0 : 1, name);
			if (reply) assert.ok(stdout.includes(`challenge, answered with: ${reply.body ?? reply}\n`), `${name}: ${stdout}`);
		}
	};

	test(`${file}: each delivery, challenge and return has the verdict of um_spec_read()`, () => {
		check('POST /webhook/x', deliveries.filter(({ method }) => method !== 'GET'), site.secrets);
		check('GET /webhook/x', deliveries.filter(({ method }) => method === 'GET'), site.secrets);
		check('GET /payment/x/return', returns, site.return_secrets ?? site.secrets);
	});

	for (const [schemes, line, [first], secrets] of [
		[verify, 'POST /webhook/x', deliveries.filter(({ method }) => method !== 'GET'), site.secrets],
		[back?.verify, 'GET /payment/x/return', returns, site.return_secrets ?? site.secrets],
	].filter(([schemes]) => schemes?.length)) {
		const isHmac = schemes[0].algorithm.startsWith('hmac-');
		test(`${file}: --sign ${isHmac ? 'puts the signature where the description looks for it' : 'says that it cannot'}, ${line}`, () => {
			// Another signature, which is replaced, or none where it has a place of its own.
			save('one.txt', fileOfDelivery(first, line));
			const { status, stdout, stderr } = run('one.txt', '--sign', ...more(secrets));
			if (!isHmac) {
				assert.deepEqual([status, stdout, stderr], [1, '', 'urlmode: --sign: only an HMAC can be made with what the site has\n']);
				return;
			}
			assert.equal(stderr, '');
			save('one.txt', stdout);
			assert.match(run('one.txt', ...more(secrets)).stdout, /^verdict: good$/m);
			const another = run('one.txt', '--sign', ...more([schemes[0].key.as === 'utf8' ? `${schemes[0].key.prefix ?? ''}another` : secrets[0]])).stdout;
			if (schemes[0].key.as !== 'utf8') return;
			save('one.txt', another);
			assert.match(run('one.txt', ...more(secrets)).stdout, /^verdict: (forged|unsigned)$/m);
		});
	}
}

/** Persona's header while a secret is changed has a list for the old and one for the new. */
test('which of several lists in the header is right, and whose values are shown', () => {
	const { site: { secrets }, deliveries } = JSON.parse(read('build/deliveries/persona.json'));
	const options = ['--description', fileOf('lib/providers/persona.json'), '--at', '1700000000', ...secrets.flatMap((secret) => ['--secret', secret])];
	const explain = (name) => {
		save('one.txt', fileOfDelivery(deliveries.find((delivery) => delivery.name === name)));
		return run('one.txt', ...options).stdout;
	};
	const found = (name) => explain(name).match(/^ {2}list {9}(.*)\n {2}signed {7}(\d+) /m)?.slice(1);

	assert.deepEqual(found('the known secret second'), ['2 of 2 is right, with these values:', '1700000000']);
	assert.deepEqual(found('the known secret first'), ['1 of 2 is right, with these values:', '1700000000']);
	assert.deepEqual(found('an old list before one that anyone can write'), ['1 of 2 is right, with these values:', '1699999699']);
	assert.deepEqual(found('an old list after one that anyone can write'), ['2 of 2 is right, with these values:', '1699999699']);
	assert.deepEqual(found('neither secret'), ['2, the last that was looked at:', '1700000000']);
	assert.match(explain('neither secret'), /^ {2}The signature is not that of this text and secret\.$/m);
	assert.match(explain('a list too many'), /^ {2}The signature is one of too many\.$/m);
	assert.equal(found('approved'), undefined);
	save('one.txt', run('one.txt', '--sign', ...options).stdout);
	assert.match(run('one.txt', ...options).stdout, /^verdict: good$/m);
});

test('a reference that is no UUID, what is accepted, and a challenge that is none', () => {
	const secrets = ['--secret', 's3cret'];
	const { secrets: [key], constants } = JSON.parse(read('build/deliveries/docusign.json')).site;
	const [{ headers, body }] = JSON.parse(read('build/deliveries/docusign.json')).deliveries;
	save('one.txt', fileOfDelivery({ headers, body }));
	assert.match(run('one.txt', '--description', fileOf('lib/providers/docusign.json'), '--secret', key).stdout,
		/^ {2}effect {7}accepted: it is accepted, as what was signed or approved\n(?! {15}Without an amount)/m);
	save('one.txt', fileOfDelivery({ headers: {}, body: body.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'order-17') }));
	save('two.txt', run('one.txt', '--sign', '--description', fileOf('lib/providers/docusign.json'), ...secrets).stdout);
	assert.match(run('two.txt', '--description', fileOf('lib/providers/docusign.json'), ...secrets).stdout,
		/^ {15}The elicitation is not a UUID of 36 characters: the event is another system's\.$/m);
	assert.equal(constants, undefined);
	save('one.txt', 'GET /webhook/meta?hub.mode=subscribe&hub.verify_token=other&hub.challenge=1 HTTP/1.1\r\n\r\n');
	const none = run('one.txt', '--description', fileOf('lib/providers/meta.json'), ...secrets, '--constant', 'verify_token=vt');
	assert.match(none.stdout, /^verdict: unsigned\nno challenge: a condition of `when` does not hold, or/m);
	assert.equal(none.status, 1);
	for (const [line, said] of [['GET /webhook/x', 'has no challenge that is a GET'], ['GET /payment/x/return?a=b', 'has no `return`']]) {
		save('one.txt', `${line} HTTP/1.1\r\n\r\n`);
		assert.match(run('one.txt', '--description', fileOf('lib/providers/stripe.json'), '--secret', 'whsec_x').stderr, new RegExp(said.replaceAll('`', '.')));
	}
});

test('what only some events say is said once', () => {
	const { site: { secrets }, deliveries } = JSON.parse(read('build/deliveries/paddle.json'));
	save('one.txt', fileOfDelivery(deliveries.find(({ name }) => name === 'subscribed')));
	const { stdout } = run('one.txt', '--description', fileOf('lib/providers/paddle.json'), '--at', '1700000000',
		...secrets.flatMap((secret) => ['--secret', secret]));
	assert.deepEqual(stdout.match(/^ {2}details .*"sub_1".*$/gm)?.length, 1, stdout);
});

// SPDX-License-Identifier: MIT
// lib/providers/schema.json, the loader and (for `oauth`) the Node package agree: one of the
// two refuses everything that the schema refuses, and what only they refuse cannot be
// expressed in a schema.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv/dist/2020.js';

import { RELEASE } from '../support/command.mjs';
import { DESCRIBED } from '../support/deliveries.mjs';
import { findMistakes as findFaults } from '../../lib/node/src/accounts/check-description.js';

const findMistakes = (oauth) => findFaults(oauth).map(({ pointer }) => pointer);
const top = new URL('../../', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, top), 'utf8'));
const names = (folder) => readdirSync(new URL(folder, top))
	.filter((name) => name.endsWith('.json') && name !== 'schema.json');
const DESCRIBE = fileURLToPath(new URL(`${process.env.URLMODE_BUILD ?? 'build'}/tools/describe`, top));

const ajv = new Ajv.default({ strict: true, strictTypes: false, strictRequired: false });
const validate = ajv.compile(read('lib/providers/schema.json'));

/** A description that has only an `oauth` part has no deliveries, and needs nothing from a site. */
function siteOf(path, content) {
	const deliveries = `build/deliveries/${path.replace(/.*\//, '')}`;
	if (content.verify === undefined) return {};
	assert.ok(existsSync(new URL(deliveries, top)), `${deliveries} is missing`);
	return read(deliveries).site;
}

const descriptions = [
	...names('lib/providers/').map((name) => `lib/providers/${name}`),
	...names('tests/deliveries/descriptions/').map((name) => `tests/deliveries/descriptions/${name}`),
].map((path) => {
	const content = read(path);
	return { name: path.replace(/^lib\/providers\/|^tests\/deliveries\/|\.json$/g, ''), content, site: siteOf(path, content) };
});

// One line for each: `ok`, or the reason.
function load(cases) {
	const input = cases.map(({ description, site }) => `${JSON.stringify(site)}\t${JSON.stringify(description)}\n`).join('');
	const output = execFileSync(DESCRIBE, { input, cwd: top, encoding: 'utf8', maxBuffer: 1 << 28 });

	return output.trimEnd().split('\n');
}

const steps = (pointer) => pointer.split('/').slice(1).map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));

// The description with one place set, or without it for undefined. It shares what is the same.
function change(node, [step, ...rest], to) {
	if (step === undefined) return to;
	const copy = Array.isArray(node) ? [...node] : { ...node };

	if (rest.length !== 0 || to !== undefined) copy[step] = change(node[step], rest, to);
	else if (Array.isArray(copy)) copy.splice(Number(step), 1);
	else delete copy[step];
	return copy;
}

test('every description passes the schema, and loads', () => {
	for (const { name, content: { oauth } } of descriptions)
		assert.deepEqual(oauth ? findMistakes(oauth) : [], [], name);
	for (const { name, content } of descriptions)
		assert.ok(validate(content), `${name}: ${ajv.errorsText(validate.errors)}`);
	assert.deepEqual(load(descriptions.map(({ content, site }) => ({ description: content, site }))),
		descriptions.map(() => 'ok'));
});

// What a schema allows an object of a description to have: its members, and the values of
// an `enum`. Conditions (`if`, `then`) allow nothing of their own.
function* allowed(schema, at, known = new Set()) {
	if (known.has(at)) return;
	known.add(at);
	const node = steps(at).reduce((inner, step) => inner[step], schema);

	for (const value of node.enum ?? []) yield `${at}: ${value}`;
	for (const name of Object.keys(node.properties ?? {})) {
		yield `${at}/${name}`;
		yield* allowed(schema, `${at}/properties/${name}`, known);
	}
	for (const deeper of below(node, at)) yield* allowed(schema, deeper, known);
}

function* below(node, at) {
	if (node.$ref) yield node.$ref.slice(1);
	for (const list of ['anyOf', 'allOf', 'prefixItems'])
		for (const [i, one] of (Array.isArray(node[list]) ? node[list] : []).entries())
			if (one.if === undefined) yield `${at}/${list}/${i}`;
	for (const one of ['items', 'additionalProperties'])
		if (typeof node[one] === 'object') yield `${at}/${one}`;
}

// Of the same, what a description has. Of several forms it has those that fit it.
function* used(schema, at, value) {
	if (!fits(at, value)) return;
	const node = steps(at).reduce((inner, step) => inner[step], schema);

	if (node.enum) yield `${at}: ${value}`;
	for (const [name, member] of Object.entries(node.properties ? value : {})) {
		yield `${at}/${name}`;
		yield* used(schema, `${at}/properties/${name}`, member);
	}
	for (const deeper of below(node, at))
		if (/\/(items|additionalProperties)$/.test(deeper)) for (const one of Object.values(value)) yield* used(schema, deeper, one);
		else yield* used(schema, deeper, /\/prefixItems\/\d+$/.test(deeper) ? value[deeper.split('/').at(-1)] : value);
}

const validators = new Map();

function fits(at, value) {
	if (!validators.has(at)) validators.set(at, ajv.compile({ $ref: `schema.json#${at}` }));
	return validators.get(at)(value);
}

/** No shipped description has these, for this reason. */
const ONE_LOADER = 'the same code reads `json`, the webhook or a timestamp, with this member';
const OWN_TOKENS = 'for a provider that publishes its keys; the only shipped one gives them one at a time, and is rechecked instead';
const NOT_SHIPPED = {
	'/$defs/item/inside': ONE_LOADER,
	'/$defs/item/is': ONE_LOADER,
	'/$defs/item/value': ONE_LOADER,
	'/$defs/item/where': ONE_LOADER,
	'/$defs/scheme/digest': OWN_TOKENS,
	'/$defs/scheme/properties/algorithm: jwt': OWN_TOKENS,
	'/$defs/scheme/properties/key/properties/as: jwks': OWN_TOKENS,
	'/$defs/timestamp/properties/from/anyOf/1/claim': OWN_TOKENS,
	'/properties/reconcile/account': ONE_LOADER,
	'/properties/reconcile/properties/file: csv': 'providers whose API has no list of payments have an export, whose columns each account selects',
	'/$defs/time/properties/as: unix_ms': ONE_LOADER,
	'/properties/return/account': ONE_LOADER,
	'/properties/return/amount': ONE_LOADER,
	'/properties/return/checkout': ONE_LOADER,
	'/properties/return/currency': ONE_LOADER,
	'/properties/return/live': ONE_LOADER,
};

test('a shipped description uses each part of the language', () => {
	const schema = read('lib/providers/schema.json');
	const { oauth, ...properties } = schema.properties;
	const language = { ...schema, properties };
	ajv.addSchema(schema, 'schema.json');
	const found = new Set();
	for (const path of names('lib/providers/')) {
		const { oauth: account, ...content } = read(`lib/providers/${path}`);
		if (content.verify !== undefined) for (const one of used(language, '', content)) found.add(one);
	}
	assert.deepEqual([...allowed(language, '')].filter((one) => !found.has(one)).sort(), Object.keys(NOT_SHIPPED).sort());
});

test('every outcome that is shipped says why it is final, or why it is not', () => {
	for (const path of names('lib/providers/')) {
		const { outcomes, return: back } = read(`lib/providers/${path}`);
		for (const outcome of [...outcomes ?? [], ...back?.outcomes ?? []])
			assert.ok(outcome.because, `${path}: ${JSON.stringify(outcome)}`);
	}
});

/** What is not captured yet, by what its outcome says. */
const AUTHORISED = /\bauthori[sz]ed\b|\breserved\b/i;

test('the notes of each payment say once what becomes of manual capture, and its outcomes do it', () => {
	for (const { name, content: { notes = '', outcomes }, kind } of DESCRIBED) {
		const isPaid = outcomes.some(({ effect }) => effect === 'paid');
		if (!isPaid && kind !== 'payment') continue;
		const [sentence, ...others] = notes.match(/Manual capture: .+?\.(?= [A-Z`]|$)/g) ?? [];
		assert.ok(sentence && others.length === 0, `${name}: one sentence of its notes begins with "Manual capture: "`);
		const isRead = !/: (none|not read)\b/.test(sentence);
		if (isRead) assert.match(sentence, /^(?=.*\bprocessing\b)(?=.*(captur\w+|settle|COMPLETED)\b)/, name);
		const waits = outcomes.some(({ effect, because }) => effect === 'processing' && AUTHORISED.test(because));
		// Where no event is a payment, the provider's API says it.
		if (isPaid || waits) assert.equal(isRead, waits, `${name}: ${sentence}`);
	}
});

test('whether a refresh token stays good is said to people and to the vault alike', () => {
	for (const { name, content: { oauth } } of descriptions.filter(({ content }) => content.oauth?.lifetimes))
		assert.equal(oauth.refresh_token_stays_good ?? false, /the (same|old) one stays/.test(oauth.lifetimes.rotation), name);
});

/** What people are told of it: seconds, 'never', or nothing. Until the new one is used: a day, as no description says more. */
function reuseOf(rotation) {
	const [, count, unit] = /works for (\d+) (second|minute)s/.exec(rotation) ?? [];
	if (count) return count * { second: 1, minute: 60 }[unit];
	return /works until the new/.test(rotation) ? 86_400 : /a second use ends all/.test(rotation) ? 'never' : undefined;
}

test('how long a refresh token that is replaced is taken again is said to people and to the vault alike, or that it was looked for', () => {
	for (const { name, content: { oauth } } of shipped().filter(({ content }) => content.oauth)) {
		const { reuse_within: within, reuse_source: source, refresh_token_stays_good: stays, lifetimes: { rotation } } = oauth;
		if (rotation === undefined || stays) {
			assert.deepEqual([within, source], [undefined, undefined], name);
			continue;
		}
		assert.equal(within, reuseOf(rotation), name);
		assert.match(source ?? '', within ? /^https:\/\/\S+ \(\d{4}-\d\d-\d\d\)$/ : /^(not said|as the (realm|provider) says): https:\/\/\S+ \(\d{4}-\d\d-\d\d\)$/, name);
	}
});

const shipped = () => descriptions.filter(({ name }) => !name.startsWith('descriptions/'));
const schemesOf = ({ verify = [], return: back }) => [...verify, ...back?.verify ?? []];

test('each scheme says since when, and was compared with which document of the provider', () => {
	for (const { name, content } of shipped()) {
		for (const { since, compared, source } of schemesOf(content)) {
			assert.ok(since <= compared, `${name}: since ${since}, compared ${compared}`);
			assert.match(source ?? '', /^https:\/\/\S+$/, name);
		}
		// What is no scheme: an account, or deliveries that nothing signs.
		if (content.oauth || schemesOf(content).length === 0) assert.ok(content.compared, `${name}: /compared`);
	}
});

/** The descriptions of which a part was not compared in the year before this day. */
function notCompared(day) {
	const year = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`;
	return shipped().filter(({ content }) => [content, ...schemesOf(content)].some(({ compared }) => compared < year)).map(({ name }) => name);
}

test('each description was compared in the year before the release', () => {
	assert.deepEqual(notCompared(process.env.COMPARED_ON ?? RELEASE), []);
	const [oldest] = shipped().flatMap(({ content }) => [content, ...schemesOf(content)].map(({ compared }) => compared)).filter(Boolean).sort();
	const later = `${Number(oldest.slice(0, 4)) + 1}-12-31`;
	assert.ok(notCompared(later).includes('stripe'), later);
});

test('what is wrong in a description is wrong to the schema too', () => {
	for (const row of read('tests/vectors/broken-descriptions.json')) {
		const { content } = descriptions.find(({ name, content: { verify } }) => (
			verify && [row.base, `descriptions/${row.base}`].includes(name)));
		const broken = change(content, steps(row.change), row.to);

		assert.equal(validate(broken), row.only_loader === true,
			`${row.base} with ${row.change} changed: ${ajv.errorsText(validate.errors)}`);
	}
});

test('what is wrong in an `oauth` part is wrong to the package, and to the schema', () => {
	for (const row of read('tests/vectors/broken-accounts.json')) {
		const { content } = descriptions.find(({ name }) => name === row.base);
		const oauth = change(content.oauth, steps(row.change), row.to);

		assert.ok(findMistakes(oauth).includes(row.at), `${row.base} with ${row.change} changed`);
		assert.equal(validate({ ...content, oauth }), row.only_package === true, `${row.base} with ${row.change} changed`);
	}
});

// What the loader knows beyond the schema: how parts belong together, and what
// the site's configuration has.
const BEYOND = [
	/can only have `item` values/, / cannot be used, because the description has no `(type|subscription)`$/, /: \/subscription: can(not| only) be used with /,
	/ is what ISO 4217 says: leave it out$/, / is not less than ISO 4217 says$/,
	/is not signed/,
	/not every scheme signs the body/,
	/is only allowed in a description with `events`/,
	/must have a text and the body after it/,
	/contains `between` or `equals`/,
	/contains no value of the delivery/,
	/only if the signature has a `field`/,
	/has no constant/,
	/is only allowed in the answer to a challenge/,
	/^[^ ]+ \/challenge/,
	/takes the same secrets as a scheme before it/,
	/is nested more than 4 deep/,
	/is never reached/,
	/can never hold/,
	/is the same for every delivery/,
	/^[^ ]+ \/(return\/)?verify: .*(secret|certificate|jwks_file)/, /is only allowed in `timestamp`, and only if the signature is a token/,
	/`kid` needs a `timestamp`/,
	/the configuration has (`return_secrets`|`accounts`|a `mode`|secrets)/,
];

/** What only the package knows of an `oauth` part: which variables are in which address. */
const BEYOND_PACKAGE = /^\/variables$/;

const REPLACEMENTS = [
	undefined, null, true, 0, 1, -1, 1.5, '', 'x', '/x', 'body', 'raw', 'hex', 'unix', 'paid', 'recheck', 'certificate',
	[], ['x'], [['x']], {}, { json: '/x' }, { item: '/x' }, { header: 'x' }, { header: ['x', 'y'] }, { body: 'raw' },
	{ site: 'x' }, { signature: 'x' }, { join: ['x'], with: '' }, { first: [{ query: 'x' }] }, { crc32: { form: 'x' } },
	{ sorted_query: {} }, { sorted_query: { without: ['x'] } }, { multipart: 'x' },
	{ json: '/x', where: '/y', is: 'z', value: '/v' },
	'https://x.example/y', 'https://{shop}.example', 'https://{x}.example', 'https://{', '{issuer}', '{', 'https://x.example/?y', 'http://x.example',
	'http://localhost:1', 'S256', 'none', 'form_post', 'id_token', 'token_response', 'label', 'url', ',', { x: 'y' }, { state: 'x' }, { from: 'token_response', id: '/x' },
	{ endpoint: 'https://x.example', id: '/x' }, { as: 'label' }, { shop: { as: 'labels' } }, { separator: ' ' }, { member: '/x' },
];

/** Of a long list only the first elements are varied: the others are judged in the same way. */
const ELEMENTS = 3;

/** Without the outcomes that are not varied: they are half of a long description, and would be judged with each variant. */
const shortened = ({ outcomes, ...rest }) => ({ ...rest, ...outcomes && { outcomes: outcomes.slice(0, ELEMENTS) } });

/** The parts of a description that were varied, in this one or another: one among the same members, of the same type. */
const varied = new Set();

/** What was not varied elsewhere. */
function* places(node, path = [], beside = '') {
	const shape = JSON.stringify([path.map((step) => step.replace(/^\d+$/, '*')), beside, Array.isArray(node) ? 'array' : typeof node]);
	if (!varied.has(shape)) yield path;
	varied.add(shape);
	if (node !== null && typeof node === 'object')
		for (const [key, value] of Object.entries(node).slice(0, Array.isArray(node) ? ELEMENTS : undefined))
			yield* places(value, [...path, key], Array.isArray(node) ? '' : Object.keys(node).sort().join());
}

function* variants(description) {
	for (const path of places(description)) {
		const node = path.reduce((at, step) => at[step], description);

		if (path.length !== 0)
			for (const to of REPLACEMENTS) yield change(description, path, to);
		if (node !== null && typeof node === 'object' && !Array.isArray(node))
			for (const key of ['extra', 'prefix', 'field', 'numbered', 'when', 'present', 'type', 'events', 'return', 'amount',
				'oauth', 'issuer', 'token_endpoint', 'revocation_endpoint', 'response_mode', 'variables', 'body', 'endpoint', 'from'])
				if (!(key in node))
					for (const to of ['x', true, { json: '/x' }]) yield change(description, [...path, key], to);
		if (Array.isArray(node) && node.length !== 0)
			yield change(description, path, [...node, node[0]]);
	}
}

// Between them they have every part of the language.
const VARIED = ['adobe-acrobat-sign', 'adyen', 'descriptions/gitlab', 'docusign', 'google', 'linear', 'microsoft-entra', 'mollie', 'openid-connect', 'paypal',
	'paystack', 'shopify', 'slack', 'stripe', 'descriptions/signed-token', 'descriptions/amazon-sns', 'persona'];

for (const { name, content, site } of descriptions.filter(({ name }) => VARIED.includes(name))) {
	test(`schema and loader agree about variants of ${name}`, () => {
		const short = shortened(content);
		const cases = [short, ...variants(short)].map((description) => ({ description, site }));
		const reasons = load(cases);
		assert.deepEqual([reasons[0], validate(short)], ['ok', true]);

		assert.equal(reasons.length, cases.length);
		for (const [i, { description }] of cases.entries()) {
			const mistakes = description?.oauth === undefined ? [] : findMistakes(description.oauth);
			const agreed = validate(description)
				? (reasons[i] === 'ok' || reasons[i].split('\t').every((said) => BEYOND.some((reason) => reason.test(said))))
					&& mistakes.every((mistake) => BEYOND_PACKAGE.test(mistake))
				: reasons[i] !== 'ok' || mistakes.length > 0;

			if (!agreed)
				assert.fail(`${JSON.stringify(description)}\n${reasons[i]}\n${ajv.errorsText(validate.errors)}`);
		}
	});
}

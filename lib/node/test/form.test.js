// What a page of kind input or approval asks is checked before it is sealed, and
// each mistake is an error that names its place.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { checkCreateOptions } from '../src/core/create-options.js';
import { checkApprover, checkForm, checkProblem } from '../src/core/form.js';
import { FORMATS, isLink } from '../src/core/formats.js';
import { Key, keyRing } from '../src/core/keys.js';
import { mintLink, openLink } from '../src/core/link.js';
import { seal } from '../src/core/seal.js';

const vectors = JSON.parse(readFileSync(new URL('../../../tests/vectors/form.json', import.meta.url), 'utf8'));

const links = JSON.parse(readFileSync(new URL('../../../tests/vectors/links.json', import.meta.url), 'utf8'));

const { maxBytes: FORM_MAX, $defs: { language: { enum: LANGUAGES } } } = JSON.parse(readFileSync(new URL('../../contract/form.schema.json', import.meta.url), 'utf8'));

const KEY = { name: 'api_key', type: 'secret', label: 'API key' };
const FIELDS = [
	{ ...KEY, help: 'It begins with sk-.\nKeep it.', link: { url: 'https://example.com/keys', label: { en: 'Get one', de: 'Hole einen' } },
		required: true, min: 8, max: 200, format: 'token' },
	{ name: 'pem', type: 'secret', label: 'Key', multiline: true },
	{ name: 'note', type: 'multiline', label: 'Note', default: 'One\n\ttwo' },
	{ name: 'name', type: 'text', label: 'Name', format: 'letters', default: 'xx' },
	{ name: 'mail', type: 'email', label: 'Mail', default: 'ada@example.org' },
	{ name: 'site', type: 'url', label: 'Site', default: 'http://example.org/' },
	{ name: 'count', type: 'number', label: 'Count', min: -1.5, max: 10, default: 0 },
	{ name: 'region', type: 'choice', label: 'Region', choices: [{ value: 'eu', label: 'Europe' }, { value: 'us', label: 'USA' }], default: 'us' },
	{ name: 'agree', type: 'checkbox', label: 'Agree', required: true, default: false },
];
const FORM = { language: 'en', title: 'Your key', text: 'First.\nSecond.', fields: FIELDS, facts: [{ label: 'For', value: 'Reports\n2026' }] };

const fail = (kind, form, pointer, why = '') => assert.throws(() => checkForm(kind, form), (error) => {
	assert.ok(error instanceof TypeError);
	assert.ok(error.message.startsWith(`form${pointer} `), `${error.message} is not about ${pointer}`);
	assert.match(error.message, new RegExp(why));
	return true;
}, JSON.stringify(form));
const field = (change) => ({ title: 'a', fields: [{ ...KEY, ...change }] });

test('a form with everything is taken as it is, without what says nothing', () => {
	assert.deepEqual(checkForm('input', { ...FORM, text: 'First.\nSecond.', facts: FORM.facts }), FORM);
	assert.deepEqual(checkForm('input', field({ help: undefined, default: undefined })), field({}));
	const approval = { title: { de: 'Löschen?', en: 'Delete?' }, comment: 'required' };
	assert.deepEqual(checkForm('approval', { ...approval, facts: [] }), approval);
});

test('what is for the page is sealed, and the link to an approval is made, as in the vectors', () => {
	const ring = ({ kid, secret_hex: secret }) => keyRing([new Key(kid, Buffer.from(secret, 'hex'))]);
	for (const vector of vectors.seals.filter(({ binding_hex: owner }) => owner)) {
		const { id, info, text } = vector;
		const context = { id, binding: Buffer.from(vector.binding_hex, 'hex'), use: info };
		assert.equal(seal(ring(vector), context, text, Buffer.from(vector.nonce_hex, 'hex')).toString('hex'), vector.sealed_hex);
	}
	for (const vector of vectors.links) {
		assert.equal(mintLink(ring(vector).minting, vector.provider, vector.id, vector.purpose), vector.state);
		assert.throws(() => openLink(ring(vector), vector.provider, vector.state), { code: 'STATE_INVALID' });
	}
});

test('the forms of the vectors are taken or refused, each at its place', () => {
	for (const { kind, form } of vectors.forms) assert.deepEqual(checkForm(kind, form), form);
	for (const { kind, form, pointer, must } of vectors.broken) assert.throws(() => checkForm(kind, form), { name: 'TypeError', message: `form${pointer} ${must}` });
});

test('each mistake in a form is an error that names its place', () => {
	for (const form of [undefined, null, [], 'a']) fail('input', form, '', 'must be an object');
	fail('input', { ...FORM, titel: 'a' }, '/titel', 'Allowed are language, title, text, facts, fields');
	fail('input', { ...FORM, 'a/b~': 'a' }, '/a~1b~0');
	fail('input', { ...FORM, language: 'en-GB' }, '/language');
	fail('input', { ...FORM, title: undefined }, '/title', 'is missing');
	fail('input', { ...FORM, title: '' }, '/title', '1 to 120 characters');
	fail('input', { ...FORM, title: '😀'.repeat(121) }, '/title');
	assert.ok(checkForm('input', { ...FORM, title: '😀'.repeat(120) }));
	fail('input', { ...FORM, title: 'a\nb' }, '/title', 'control characters');
	fail('input', { ...FORM, text: 'a\tb' }, '/text', 'control characters');
	fail('input', { ...FORM, text: 'a'.repeat(2_001) }, '/text');
	fail('input', { ...FORM, title: '\ud800' }, '/title', 'Unicode');
	fail('input', { ...FORM, title: 'a\u202eb' }, '/title', 'direction');
	fail('input', { ...FORM, title: {} }, '/title', 'must not be empty');
	fail('input', { ...FORM, title: { en: 'a', tlh: 'b' } }, '/title/tlh', 'Allowed are ar, de');
	fail('input', { ...FORM, title: { en: 1 } }, '/title/en');
	fail('input', { ...FORM, facts: [{ label: 'a' }] }, '/facts/0/value');
	fail('input', { ...FORM, facts: Array(21).fill({ label: 'a', value: 'b' }) }, '/facts', '0 to 20');
	fail('input', { ...FORM, comment: 'optional' }, '/comment');
	fail('approval', { title: 'a', fields: FIELDS }, '/fields');
	fail('approval', { title: 'a', comment: 'never' }, '/comment', 'one of optional, required');
	const long = { label: 'a', value: '字'.repeat(500) };
	fail('input', { ...FORM, facts: Array(11).fill(long) }, '', `at most ${FORM_MAX} bytes as JSON`);
});

test('each mistake in a field is an error that names its place', () => {
	fail('input', { title: 'a' }, '/fields', 'is missing');
	fail('input', { title: 'a', fields: [] }, '/fields');
	fail('input', { title: 'a', fields: Array.from({ length: 17 }, (_, n) => ({ ...KEY, name: `a${n}` })) }, '/fields');
	fail('input', { title: 'a', fields: [KEY, { ...KEY, label: 'Other' }] }, '/fields/1/name', 'twice');
	for (const [change, member, why] of [
		[{ name: 'Key' }, 'name'], [{ name: '1' }, 'name'], [{ name: 'a'.repeat(33) }, 'name'], [{ name: undefined }, 'name'],
		[{ type: 'password' }, 'type', 'text, secret, multiline'], [{ type: 'toString' }, 'type'], [{ placeholder: 'x' }, 'placeholder'],
		[{ label: undefined }, 'label'], [{ label: 'a'.repeat(201) }, 'label'], [{ help: 'a'.repeat(501) }, 'help'],
		[{ required: 'yes' }, 'required'], [{ multiline: false }, 'multiline'], [{ multiline: true, format: 'hex' }, 'format'],
		[{ default: '' }, 'default', 'is not allowed here'], [{ choices: [] }, 'choices', 'not allowed here'],
		[{ min: -1 }, 'min'], [{ min: 1.5 }, 'min'], [{ max: 8_193 }, 'max'], [{ max: 0 }, 'max'], [{ min: 5, max: 4 }, 'max'], [{ min: 1_001 }, 'max'],
		[{ format: 1 }, 'format'], [{ format: 'email' }, 'format', 'one of digits, letters'], [{ pattern: '[0-9]+' }, 'pattern', 'is not allowed here.*format'],
		[{ link: 'https://a.example' }, 'link'], [{ link: { url: 'http://a.example', label: 'a' } }, 'link/url', 'https'],
		[{ link: { url: 'https://ada@a.example', label: 'a' } }, 'link/url'], [{ link: { url: 'javascript:alert(1)', label: 'a' } }, 'link/url'],
		[{ link: { url: 'https://a.example' } }, 'link/label'], [{ link: { url: `https://a.example/${'a'.repeat(2_048)}`, label: 'a' } }, 'link/url'],
		[{ type: 'text', format: 'digits', default: 'a' }, 'default', 'format digits'], [{ type: 'text', max: 2, default: 'abc' }, 'default'],
		[{ type: 'text', default: ' a' }, 'default'], [{ type: 'text', default: 'a\nb' }, 'default'], [{ type: 'text', default: 1 }, 'default'],
		[{ type: 'text', multiline: true }, 'multiline', 'not allowed here'], [{ type: 'multiline', default: 'a\rb' }, 'default'], [{ type: 'multiline', format: 'hex' }, 'format', 'not allowed here'],
		[{ type: 'email', default: 'ada' }, 'default'], [{ type: 'email', max: 255 }, 'max'], [{ type: 'url', default: 'ftp://a.example' }, 'default'],
		[{ type: 'url', max: 2_049 }, 'max'], [{ type: 'number', min: 2, max: 1 }, 'max'], [{ type: 'number', max: '3' }, 'max'],
		[{ type: 'number', max: 1e21 }, 'max', '15 digits'], [{ type: 'number', default: 1e-7 }, 'default'], [{ type: 'number', default: NaN }, 'default', 'a number'],
		[{ type: 'number', min: 1, default: 0 }, 'default'], [{ type: 'number', format: 'hex' }, 'format', 'not allowed here'],
		[{ type: 'choice' }, 'choices'], [{ type: 'choice', choices: [] }, 'choices'],
		[{ type: 'choice', choices: [{ value: '', label: 'a' }] }, 'choices/0/value'], [{ type: 'choice', choices: [{ value: 'a' }] }, 'choices/0/label'],
		[{ type: 'choice', choices: [{ value: 'a', label: 'a' }, { value: 'a', label: 'b' }] }, 'choices/1/value', 'twice'],
		[{ type: 'choice', choices: [{ value: 'a', label: 'a' }], default: 'b' }, 'default'], [{ type: 'checkbox', default: 'true' }, 'default'],
	]) fail('input', field(change), `/fields/0/${member}`, why);
});

test('a link is what the protocol says', () => {
	for (const [section, expected] of [['allowed', true], ['refused', false]]) {
		assert.ok(links[section].length >= 40);
		for (const link of links[section]) assert.equal(isLink(link), expected, link);
	}
	assert.equal(isLink('https://'.padEnd(2_048, 'a')), true);
	assert.equal(isLink('https://'.padEnd(2_049, 'a')), false);
});

test('a format has its characters and no others', () => {
	assert.deepEqual(vectors.formats.map(({ format }) => format), [...FORMATS.keys()]);
	for (const { format, matches, misses } of vectors.formats) {
		for (const value of matches) assert.match(value, FORMATS.get(format));
		for (const value of misses) assert.doesNotMatch(value, FORMATS.get(format));
	}
});

test('those who decide are the starter, others, or named', () => {
	assert.equal(checkApprover(undefined), null);
	assert.equal(checkApprover('starter'), null);
	assert.deepEqual(checkApprover('others'), []);
	assert.deepEqual(checkApprover(['bob', 'grace']), ['bob', 'grace']);
	for (const wrong of ['bob', [], [''], ['bob', 'bob'], [1], ['a'.repeat(513)], Array.from({ length: 17 }, (_, n) => `a${n}`), null, {}]) {
		assert.throws(() => checkApprover(wrong), /^TypeError: (approver|each approver) must/, JSON.stringify(wrong));
	}
});

test('options that do not belong to a kind are errors', () => {
	const input = { provider: 'key', kind: 'input', subject: 'ada', form: field({}) };
	const approval = { provider: 'terms', kind: 'approval', subject: 'ada', form: { title: 'a' } };
	assert.equal(checkCreateOptions(input).verifyMs, null);
	assert.equal(checkCreateOptions({ ...input, verifyTimeout: 120_000 }).verifyMs, 120_000);
	for (const [options, message] of [
		[{ ...input, kind: 'oauth' }, /^form is only allowed/], [{ ...input, approver: 'others' }, /^approver is only allowed/],
		[{ ...approval, verifyTimeout: 1_000 }, /^verifyTimeout is only allowed/], [{ ...input, verifyTimeout: 999 }, /^verifyTimeout must be .* from 1000 to 120000/],
		[{ ...input, targetUrl: 'https://a.example' }, /^targetUrl is not allowed/], [{ ...input, expected: 'any' }, /^expected is only allowed/],
		[{ ...approval, pkce: true }, /^pkce is only allowed/], [{ ...approval, form: undefined }, /^form must be an object/],
	]) assert.throws(() => checkCreateOptions(options), { name: 'TypeError', message });
});

test('a problem that verify returns is checked, and the error does not quote it', () => {
	assert.equal(checkProblem(undefined), undefined);
	assert.deepEqual(checkProblem({ field: 'api_key', problem: { en: 'Unknown key', de: 'Unbekannt' } }), { field: 'api_key', problem: { en: 'Unknown key', de: 'Unbekannt' } });
	for (const wrong of ['sk-secret', { field: 'sk-secret', problem: 'a' }, { field: 'a' }, { field: 'a', problem: 'sk-secret'.repeat(60) }, { field: 'a', problem: 'a', values: {} }]) {
		assert.throws(() => checkProblem(wrong), ({ name, message }) => {
			assert.equal(name, 'TypeError');
			assert.match(message, /^verify must return nothing or \{ field, problem \}/);
			return !message.includes('sk-secret');
		});
	}
});

test('a problem has at most 8192 bytes as JSON, as many as its column', () => {
	const ofBytes = (bytes) => {
		const problem = Object.fromEntries(LANGUAGES.slice(0, 5).map((language) => [language, '字'.repeat(500)]));
		const spare = bytes - Buffer.byteLength(JSON.stringify({ field: 'api_key', problem: { ...problem, zh: '' } }));
		return { field: 'api_key', problem: { ...problem, zh: 'a'.repeat(spare % 3) + '字'.repeat(Math.floor(spare / 3)) } };
	};
	assert.equal(Buffer.byteLength(JSON.stringify(checkProblem(ofBytes(8_192)))), 8_192);
	assert.throws(() => checkProblem(ofBytes(8_193)), /^TypeError: verify must return .*: \/problem must have at most 8192 bytes as JSON$/);
});

test('the languages of forms are those of the pages', () => {
	const pages = readdirSync(new URL('../../pages/', import.meta.url)).filter((file) => file.endsWith('.json'));
	assert.deepEqual(pages.map((file) => file.slice(0, -5)).sort(), LANGUAGES);
});

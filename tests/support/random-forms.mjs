// Random forms, half of them valid and half nearly. As a program it prints COUNT of them (2,000 by default) from SEED on, a line
// of JSON each: { kind, form, fault }, with what the Node package says about it, or null.

import { fileURLToPath } from 'node:url';

import { checkForm } from '../../lib/node/src/core/form.js';
import { random } from './replay.mjs';

const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'zh'];
const BYTES_MAX = 16_000;
const ALPHABET = ['a', 'Z', '0', '9', ' ', 'é', '字', '😀', '<', '"', '\\', '~', '/', '\u00a0', '\u0301'];
const ODD = ['\n', '\t', '\r', '\u0007', '\u007f', '\u0085', '\u2028', '\u200f', '\u202e', '\u2066', '\u061c'];
const LINKS = ['https://a.example', 'https://a:443/b?c#d', 'https://[::1]/', 'https://1.2.3.4', 'https://a_b', 'https://xn--a/[', 'https://a..b'];
const BAD_LINKS = ['http://a', 'https://', 'https://u@a', 'https://a:0', 'https://1.2.3', 'https://a b', 'https://[::1', 'https://é', 'javascript:a', '//a'];
const MAILS = ['a@b', 'o\'neil+x@sub-1.example', 'A.B@C'];
const BAD_MAILS = ['a', 'a@', '@b', 'a@b..c', 'a@-b', 'é@b', 'a b@c', 'a@b\n'];
const URLS = ['http://a', 'HTTPS://é.example/b', 'https://[::1]:80'];
const BAD_URLS = ['ftp://a', 'http://', 'http://a b', 'https:/a', 'https://@a', 'https://a\u202e'];
const FORMATS = { digits: '0189', letters: 'azAZ', alphanumeric: '09azAZ', hex: '09afAF', token: '!-a9~' };
const TYPES = ['text', 'secret', 'multiline', 'email', 'url', 'number', 'choice', 'checkbox'];
/** Members that have to fit to others. */
const FITTING = new Set(['min', 'max', 'format', 'default', 'choices', 'value', 'url']);
const VALUES = [null, true, false, 0, 1, -1, 2.5, 8_192, 8_193, 1e21, 1e-7, 123_456_789_012_345, 1_234_567_890_123_456, '', ' ', 'a', 'text', 'en', 'digits', [], ['a'], {}, { en: 'a' }];

class Maker {
	#random;

	/** @param {number} seed */
	constructor(seed) {
		this.#random = random(seed);
	}

	/** @param {number} n */
	below(n) { return Math.floor(this.#random() * n); }

	/** @param {number} chance */
	is(chance) { return this.#random() < chance; }

	of(list) { return list[this.below(list.length)]; }

	/** At most `max` characters, rarely as many. */
	text(max, alphabet = ALPHABET) {
		const length = this.is(0.01) ? max : 1 + this.below(Math.min(max, 12));
		return Array.from({ length }, () => this.of(alphabet)).join('');
	}

	line(max) {
		return `x${[...this.text(max)].slice(2).join('')}x`;
	}

	words(max, { lines = false } = {}) {
		const text = () => (lines && this.is(0.3) ? `a\n${this.text(max - 2)}` : this.text(max));
		if (this.is(0.7)) return text();
		return Object.fromEntries(Array.from({ length: 1 + this.below(3) }, () => [this.of(LANGUAGES), text()]));
	}

	form(kind) {
		return {
			...this.is(0.3) && { language: this.of(LANGUAGES) },
			title: this.words(120),
			...this.is(0.3) && { text: this.words(2_000, { lines: true }) },
			...this.is(0.3) && { facts: Array.from({ length: this.below(4) }, () => ({ label: this.words(120), value: this.words(500, { lines: true }) })) },
			...kind === 'input' && { fields: Array.from({ length: this.is(0.02) ? 16 : 1 + this.below(3) }, (_, index) => this.field(`f${index}`)) },
			...kind === 'approval' && this.is(0.4) && { comment: this.of(['optional', 'required']) },
		};
	}

	field(name) {
		const type = this.of(TYPES);
		return {
			name, type, label: this.words(200),
			...this.is(0.2) && { help: this.words(500, { lines: true }) },
			...this.is(0.2) && { link: { url: this.of(LINKS), label: this.words(120) } },
			...this.is(0.3) && { required: this.is(0.8) },
			...this.membersOf(type),
		};
	}

	membersOf(type) {
		if (type === 'checkbox') return this.is(0.4) && { default: this.is(0.5) };
		if (type === 'choice') {
			const choices = Array.from({ length: this.is(0.02) ? 20 : 1 + this.below(3) }, (_, index) => ({ value: `${this.line(9)}${index}`, label: this.words(200) }));
			return { choices, ...this.is(0.4) && { default: this.of(choices).value } };
		}
		if (type === 'number') return this.number();
		const longest = type === 'email' ? 254 : type === 'url' ? 2_048 : 8_192;
		const min = this.is(0.2) ? this.below(2) : undefined;
		const max = this.is(0.3) ? this.of([13, 30, 100, longest]) + this.below(2) - 1 : undefined;
		const lengths = { ...min !== undefined && { min }, ...max !== undefined && { max } };
		if (type === 'email' || type === 'url') return { ...lengths, ...(max ?? 99) > 29 && this.is(0.4) && { default: this.of(type === 'email' ? MAILS : URLS) } };
		if (type === 'multiline') return { ...lengths, ...this.is(0.4) && { default: `${this.text(5)}\n\t` } };
		if (type === 'secret' && this.is(0.3)) return { ...lengths, multiline: true };
		const format = this.is(0.4) ? this.of(Object.keys(FORMATS)) : undefined;
		const given = format ? this.text(9, [...FORMATS[format]]).slice(0, 12) : this.line(12);
		return { ...lengths, ...format && { format }, ...type === 'text' && this.is(0.4) && { default: given } };
	}

	number() {
		const [min, given, max] = Array.from({ length: 3 }, () => this.of([-1, 1]) * this.of([0, 1, 2.5, 0.001, 1e14, 123_456.789, this.below(1_000)])).sort((a, b) => a - b);
		return { ...this.is(0.4) && { min }, ...this.is(0.4) && { max }, ...this.is(0.4) && { default: given } };
	}

	/** A copy, because the next change may be inside of it. */
	value() {
		return structuredClone(this.of(VALUES));
	}

	/** Changes one place of a value of JSON. */
	change(value) {
		const all = [...placesOf(value)].slice(this.is(0.02) ? 0 : 1);
		const fit = this.is(0.35) ? all.filter(({ key }) => FITTING.has(key)) : [];
		const places = fit.length > 0 ? fit : all;
		const { parent, key } = this.of(places) ?? { parent: value, key: 'form' };
		const at = parent[key];
		const kind = this.below(8);
		if (kind === 0 && !Array.isArray(parent)) delete parent[key];
		else if (kind === 1 && !Array.isArray(parent)) parent[this.of(['x', 'type', 'min', 'max', 'format', 'default', 'multiline', 'choices', 'comment', 'fields', 'pattern', 'a/~', 'tlh'])] = this.value();
		else if (kind === 2 && typeof at === 'string') parent[key] = `${this.of(['', 'a', ' '])}${this.of(ODD)}${this.of(['', at, ' '])}`;
		else if (kind === 3 && typeof at === 'string') parent[key] = this.of([...BAD_LINKS, ...BAD_MAILS, ...BAD_URLS, ...TYPES, ...Object.keys(FORMATS), ` ${at}`, `${at} `]);
		else if (kind === 4 && typeof at === 'string') parent[key] = 'x'.repeat(this.of([13, 33, 121, 201, 501, 1_001, 2_001, 2_049, 8_193]));
		else if (kind === 5 && typeof at === 'number') parent[key] = this.of([at + 1, at - 1, -at, at * 1e7, at / 1e7, at + 0.5, 9_000, 255]);
		else if (kind === 6 && Array.isArray(at)) parent[key] = [...at, ...at, ...this.is(0.3) ? [...at, ...at, ...at, ...at, ...at, ...at] : []];
		else if (Array.isArray(at) && this.is(0.5)) parent[key] = [];
		else parent[key] = this.value();
	}
}

function* placesOf(value) {
	for (const [key, member] of Object.entries(value)) {
		yield { parent: value, key };
		if (typeof member === 'object' && member !== null) yield* placesOf(member);
	}
}

/**
 * @param {number} seed
 * @returns {{ kind: 'input' | 'approval', form: unknown }}
 */
export function randomForm(seed) {
	const maker = new Maker(seed);
	for (;;) {
		const kind = maker.is(0.8) ? 'input' : 'approval';
		const whole = { form: maker.form(kind) };
		if (maker.is(0.5)) for (let left = 1 + maker.below(2); left > 0; left -= 1) maker.change(whole);
		// Not so large that this is all that is said, and nothing that JSON has and the programs refuse.
		const text = JSON.stringify(whole.form) ?? 'null';
		if (/^[[{]/.test(text) && Buffer.byteLength(text) < BYTES_MAX && !/\d{19}/.test(text)) return { kind, form: JSON.parse(text) };
	}
}

/** @type {(kind: 'input' | 'approval', form: unknown) => string | null} */
export function faultIn(kind, form) {
	try {
		checkForm(kind, form);
		return null;
	} catch (error) {
		return error.message;
	}
}

/** COUNT of them, 2,000 by default, from SEED on. */
export function* randomForms() {
	const first = Number(process.env.SEED ?? 1);
	const last = first + Number(process.env.COUNT ?? 2_000) - 1;
	for (let seed = first; seed <= last; seed += 1) yield randomForm(seed);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	for (const { kind, form } of randomForms()) console.log(JSON.stringify({ kind, form, fault: faultIn(kind, form) }));
}

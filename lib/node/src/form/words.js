// The words of a form, in one language or in several, and its members.

/** The languages of the pages: lib/pages has a file for each. */
export const LANGUAGES = ['ar', 'de', 'en', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'zh'];

const CONTROLS = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;
const CONTROLS_BUT_LF = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]/;
/** They change the order in which other characters are shown. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * @param {string} pointer of the value in the form (RFC 6901)
 * @param {string} must what it must be
 */
export function wrong(pointer, must) {
	return new TypeError(`form${pointer} ${must}`);
}

/**
 * Checks an object whose members are known, and leaves out those that are undefined.
 *
 * @param {unknown} value
 * @param {string} pointer
 * @param {readonly string[]} names
 * @returns {Record<string, unknown>}
 */
export function checkMembers(value, pointer, names) {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(pointer, 'must be an object');
	const members = Object.entries(value).filter(([, member]) => member !== undefined);
	for (const [name] of members) {
		if (names.includes(name)) continue;
		throw wrong(`${pointer}/${escapePointer(name)}`, `is not known here. Allowed are ${names.join(', ')}`);
	}
	return Object.fromEntries(members);
}

/**
 * @template T
 * @param {unknown} value
 * @param {string} pointer
 * @param {number} min
 * @param {number} max
 * @param {(element: unknown, pointer: string) => T} check
 * @returns {T[]}
 */
export function checkList(value, pointer, min, max, check) {
	if (!Array.isArray(value) || value.length < min || value.length > max) {
		throw wrong(pointer, `must be an array of ${min} to ${max} elements`);
	}
	return value.map((element, index) => check(element, `${pointer}/${index}`));
}

/**
 * @param {unknown} value
 * @param {string} pointer
 */
export function checkLanguage(value, pointer) {
	if (typeof value !== 'string' || !LANGUAGES.includes(value)) throw wrong(pointer, `must be one of ${LANGUAGES.join(', ')}`);
	return value;
}

/**
 * @param {unknown} value
 * @param {string} pointer
 * @param {number} max characters (code points)
 * @param {{ lines?: boolean }} [options] lines: whether it may have several
 * @returns {import('./types.js').Words}
 */
export function checkWords(value, pointer, max, options) {
	if (typeof value === 'string') return checkText(value, pointer, max, options);
	if (typeof value !== 'object' || value === null) throw wrong(pointer, 'must be a text, or an object with a text for each language');
	const unknown = Object.keys(value).find((language) => !LANGUAGES.includes(language));
	if (unknown !== undefined) throw wrong(pointer, `has a text in “${unknown}”. The pages have the languages ${LANGUAGES.join(', ')}`);
	const words = checkMembers(value, pointer, LANGUAGES);
	if (Object.keys(words).length === 0) throw wrong(pointer, 'must have a text in at least one language');
	return Object.fromEntries(Object.entries(words).map(([language, text]) => (
		[language, checkText(text, `${pointer}/${language}`, max, options)])));
}

/**
 * @param {unknown} value
 * @param {string} pointer
 * @param {number} max
 * @param {{ lines?: boolean }} [options]
 * @returns {string}
 */
function checkText(value, pointer, max, { lines = false } = {}) {
	if (typeof value !== 'string') throw wrong(pointer, 'must be a string');
	const length = lengthOf(value);
	if (length < 1 || length > max) throw wrong(pointer, `must have 1 to ${max} characters`);
	return checkCharacters(value, pointer, lines ? CONTROLS_BUT_LF : CONTROLS);
}

/**
 * @param {string} value
 * @param {string} pointer
 * @param {RegExp} [controls] those that are not allowed
 */
export function checkCharacters(value, pointer, controls = CONTROLS) {
	if (!value.isWellFormed()) throw wrong(pointer, 'must be valid Unicode text');
	if (controls.test(value)) throw wrong(pointer, 'must not have control characters');
	if (BIDI_CONTROLS.test(value)) throw wrong(pointer, 'must not have characters that change the direction of text');
	return value;
}

/**
 * The number of characters, which are Unicode's code points.
 *
 * @param {string} text
 */
export function lengthOf(text) {
	return [...text].length;
}

/** @param {string} name */
function escapePointer(name) {
	return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

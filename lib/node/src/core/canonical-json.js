// One text for each JSON value.

import { TEXTS } from './contract-texts.js';

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * JSON in the canonical form of RFC 8785. Members that are undefined are left out, and null is kept.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function canonicalJson(value) {
	try {
		return canonical(value);
	} catch (error) {
		if (error instanceof RangeError) throw new TypeError(TEXTS.aboutTooDeep);
		throw error;
	}
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function canonical(value) {
	if (Array.isArray(value)) return `[${Array.from(value, canonical).join()}]`;
	if (typeof value === 'string') return textOf(value);
	if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('a number of about must be finite');
	if (value === null || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
	if (typeof value !== 'object') throw new TypeError(`about must be plain JSON, without a value of type ${typeof value}`);
	const members = Object.entries(value).filter(([, member]) => member !== undefined)
		.sort(([one], [other]) => (one < other ? -1 : 1));
	return `{${members.map(([name, member]) => `${textOf(name)}:${canonical(member)}`).join()}}`;
}

/** @param {string} text */
function textOf(text) {
	if (LONE_SURROGATE.test(text)) throw new TypeError(TEXTS.aboutSurrogate);
	return JSON.stringify(text);
}

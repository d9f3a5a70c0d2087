// The forms of texts that have a name. lib/PROTOCOL.md says what each one is, and
// the callback programs take the same.

import { DIGITS_MAX, FIELD_NAME_MAX, LINK_MAX } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';

/** The only characters that a text of one line has, if its field says so. */
export const FORMATS = new Map(Object.entries({
	digits: /^\d*$/, letters: /^[a-zA-Z]*$/, alphanumeric: /^[\da-zA-Z]*$/, hex: /^[\da-fA-F]*$/, token: /^[!-~]*$/,
}));

const CONTROLS = /[\0-\x1f\x7f-\x9f\u2028\u2029]/;
/** They change the order in which other characters are shown. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const NAME = new RegExp(`^[a-z][a-z0-9_]{0,${FIELD_NAME_MAX - 1}}$`);
const LABEL = '[a-z\\d](?:[a-z\\d-]{0,61}[a-z\\d])?';
/** As HTML defines a valid e-mail address. */
const EMAIL = new RegExp(`^[\\w.!#$%&'*+/=?^\`{|}~-]+@${LABEL}(?:\\.${LABEL})*$`, 'i');
const URL_VALUE = /^https?:\/\/[^/?#:@ ][^ ]*$/i;

/**
 * The formats of lib/contract/form.schema.json: each says what is wrong with a value.
 *
 * @type {import('./schema.js').Formats}
 */
export const FORM_FORMATS = {
	line: (value) => faultInText(value),
	lines: (value) => faultInText(value, '\n'),
	text: (value) => faultInText(value, '\n\t'),
	// The page trims what is sent.
	trimmed: (value) => faultInText(value) ?? (/^ | $/.test(value) ? TEXTS.mustBeTrimmed : undefined),
	name: (value) => (NAME.test(value) ? undefined : TEXTS.mustBeFieldName),
	link: (value) => (isLink(value) ? undefined : TEXTS.mustBeLink),
	email: (value) => (EMAIL.test(value) ? undefined : TEXTS.mustBeEmail),
	url: (value) => faultInText(value) ?? (URL_VALUE.test(value) ? undefined : TEXTS.mustBeUrl),
	short: (value) => (isShort(value) ? undefined : TEXTS.mustBeShort),
};

const LINK = /^https:\/\/(\[[\da-fA-F:.]*\]|[\w.~!$&'()*+,;=-]+)(?::(\d{0,5}))?(?:[/?#][!-~]*)?$/;
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
const GROUP = /^[\da-fA-F]{1,4}$/;

/**
 * The link of a field.
 *
 * @param {string} text
 */
export function isLink(text) {
	const [isWhole, host = '', port] = text.length <= LINK_MAX && LINK.exec(text) || [];
	if (!isWhole || (port && !(Number(port) >= 1 && Number(port) <= 65_535))) return false;
	if (host.startsWith('[')) return isIpv6(host.slice(1, -1));
	const name = host.replace(/\.$/, '');
	return name !== '' && (!/(?:^|\.)\d+$/.test(name) || IPV4.test(name));
}

/**
 * RFC 3986 section 3.2.2.
 *
 * @param {string} text
 */
function isIpv6(text) {
	const [before = '', after, ...more] = text.split('::');
	if (after === undefined) return groupsOf(before, true) === 8;
	return more.length === 0 && groupsOf(before, false) + groupsOf(after, true) <= 7;
}

/**
 * @param {string} text
 * @param {boolean} isEnd it can end with an IPv4 address, which is two groups
 * @returns {number} NaN if it is something else
 */
function groupsOf(text, isEnd) {
	if (text === '') return 0;
	const groups = text.split(':');
	if (isEnd && IPV4.test(String(groups.at(-1)))) groups.splice(-1, 1, '0', '0');
	return groups.every((group) => GROUP.test(group)) ? groups.length : NaN;
}

/**
 * @param {string} text
 * @param {string} [allowed] control characters
 */
function faultInText(text, allowed = '') {
	if (!text.isWellFormed()) return TEXTS.mustBeUnicode;
	if ([...text].some((character) => CONTROLS.test(character) && !allowed.includes(character))) return TEXTS.hasControls;
	return BIDI_CONTROLS.test(text) ? TEXTS.hasDirections : undefined;
}

/** @param {number} value */
function isShort(value) {
	const text = String(value);
	return Number.isFinite(value) && !text.includes('e') && text.replace(/[-.]/g, '').length <= DIGITS_MAX;
}

/**
 * The number of characters, which are Unicode's code points.
 *
 * @param {string} text
 */
export function lengthOf(text) {
	return [...text].length;
}

// One field of a form.

import { FORMATS, isLink } from './formats.js';
import { checkCharacters, checkList, checkMembers, checkWords, lengthOf, wrong } from './words.js';

/** A name of a field. */
export const NAME = /^[a-z][a-z0-9_]{0,31}$/;
export const LABEL_MAX = 200;
export const HELP_MAX = 500;
const LINK_URL_MAX = 2_048;
const LINK_LABEL_MAX = 120;
const CHOICES_MAX = 20;
const CHOICE_BYTES_MAX = 200;
const DIGITS_MAX = 15;

/** As HTML defines a valid e-mail address, and as the callback programs take it. */
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i;
/** As the callback programs take it. */
const URL_VALUE = /^https?:\/\/[^/?#:@ ][^ ]*$/i;

const COMMON = ['name', 'type', 'label', 'help', 'link', 'required'];
const LENGTHS = ['min', 'max'];

/**
 * What each type has beside the common members, and for a text the greatest length and that by default.
 *
 * @type {Record<string, { members: readonly string[], longest?: number, usual?: number }>}
 */
const TYPES = {
	text: { members: [...LENGTHS, 'format', 'default'], longest: 8_192, usual: 1_000 },
	secret: { members: [...LENGTHS, 'format', 'multiline'], longest: 8_192, usual: 1_000 },
	multiline: { members: [...LENGTHS, 'default'], longest: 8_192, usual: 8_192 },
	email: { members: [...LENGTHS, 'default'], longest: 254, usual: 254 },
	url: { members: [...LENGTHS, 'default'], longest: 2_048, usual: 2_048 },
	number: { members: ['min', 'max', 'default'] },
	choice: { members: ['choices', 'default'] },
	checkbox: { members: ['default'] },
};

const ALL = [...new Set([...COMMON, ...Object.values(TYPES).flatMap(({ members }) => members)])];

/** @typedef {Record<string, unknown>} Members */

/**
 * @param {unknown} value
 * @param {string} pointer
 * @returns {Members}
 */
export function checkField(value, pointer) {
	const field = checkMembers(value, pointer, ALL);
	const { required, ...given } = field;
	const { name, type, multiline } = field;
	if (typeof name !== 'string' || !NAME.test(name)) {
		throw wrong(`${pointer}/name`, 'must begin with a letter and have at most 32 characters of a-z, 0-9 and _');
	}
	const facts = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
	if (!facts) throw wrong(`${pointer}/type`, `must be one of ${Object.keys(TYPES).join(', ')}`);
	if (type === 'secret' && 'default' in field) throw wrong(`${pointer}/default`, 'is not allowed: a secret has no default');
	const foreign = Object.keys(field).find((member) => !COMMON.includes(member) && !facts.members.includes(member));
	if (foreign) throw wrong(`${pointer}/${foreign}`, `is not allowed for type ${type}`);
	if (required !== undefined && typeof required !== 'boolean') throw wrong(`${pointer}/required`, 'must be true or false');
	if (multiline !== undefined && multiline !== true) throw wrong(`${pointer}/multiline`, 'must be true or left out');
	return {
		...given,
		...required && { required },
		label: checkWords(field.label, `${pointer}/label`, LABEL_MAX),
		...field.help !== undefined && { help: checkWords(field.help, `${pointer}/help`, HELP_MAX, { lines: true }) },
		...field.link !== undefined && { link: checkLink(field.link, `${pointer}/link`) },
		...facts.longest !== undefined && checkTextField(field, pointer, facts),
		...type === 'number' && checkNumberField(field, pointer),
		...type === 'choice' && checkChoiceField(field, pointer),
		...type === 'checkbox' && checkCheckbox(field, pointer),
	};
}

/**
 * @param {unknown} value
 * @param {string} pointer
 */
function checkLink(value, pointer) {
	const { url, label } = checkMembers(value, pointer, ['url', 'label']);
	if (typeof url !== 'string' || !isLink(url)) {
		throw wrong(`${pointer}/url`, `must be a URL with https, without a user name, of at most ${LINK_URL_MAX} bytes`);
	}
	return { url, label: checkWords(label, `${pointer}/label`, LINK_LABEL_MAX) };
}

/**
 * @param {Members} field
 * @param {string} pointer
 * @param {{ longest?: number, usual?: number }} facts
 */
function checkTextField({ type, multiline, min, max, format, default: given }, pointer, { longest = 0, usual = 0 }) {
	const isMultiline = type === 'multiline' || multiline === true;
	for (const [name, length] of Object.entries({ min, max })) {
		if (length === undefined) continue;
		if (!Number.isInteger(length) || Number(length) < 0 || Number(length) > longest) {
			throw wrong(`${pointer}/${name}`, `must be a whole number from 0 to ${longest}`);
		}
	}
	const most = Number(max ?? (isMultiline ? longest : usual));
	if (Number(min ?? 0) > most) throw wrong(`${pointer}/max`, `must not be less than min: it is ${most}`);
	if (most === 0) throw wrong(`${pointer}/max`, 'must be at least 1');
	if (isMultiline && format !== undefined) throw wrong(`${pointer}/format`, 'is not allowed for several lines');
	if (format !== undefined && !FORMATS.has(String(format))) throw wrong(`${pointer}/format`, `must be one of ${[...FORMATS.keys()].join(', ')}`);
	if (given === undefined) return {};
	const fault = faultInDefault(given, { type, least: Number(min ?? 0), most, format });
	if (fault) throw wrong(`${pointer}/default`, fault);
	checkCharacters(String(given), `${pointer}/default`, isMultiline ? /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]/ : undefined);
	return {};
}

/**
 * @param {unknown} value
 * @param {{ type: unknown, least: number, most: number, format: unknown }} field
 */
function faultInDefault(value, { type, least, most, format }) {
	if (typeof value !== 'string' || value === '') return 'must be a string that is not empty';
	const length = lengthOf(value);
	if (length < least || length > most) return `must have ${least} to ${most} characters, as the field says`;
	if (type !== 'multiline' && value.trim() !== value) return 'must not begin or end with a space';
	if (type === 'email' && !EMAIL.test(value)) return 'must be an email address';
	if (type === 'url' && !URL_VALUE.test(value)) return 'must be a URL with https or http';
	if (!(FORMATS.get(String(format)) ?? /^/).test(value)) return `must have the format ${format}`;
	return undefined;
}

/**
 * @param {Members} field
 * @param {string} pointer
 */
function checkNumberField({ min, max, default: given }, pointer) {
	for (const [name, number] of Object.entries({ min, max, default: given })) {
		if (number === undefined || isShortNumber(number)) continue;
		throw wrong(`${pointer}/${name}`, `must be a number of at most ${DIGITS_MAX} digits`);
	}
	if (min !== undefined && max !== undefined && Number(min) > Number(max)) throw wrong(`${pointer}/max`, 'must not be less than min');
	if (given !== undefined && (Number(given) < Number(min ?? -Infinity) || Number(given) > Number(max ?? Infinity))) {
		throw wrong(`${pointer}/default`, 'must be from min to max');
	}
	return {};
}

/** @param {unknown} value */
function isShortNumber(value) {
	if (typeof value !== 'number' || !Number.isFinite(value)) return false;
	const text = String(value);
	return !text.includes('e') && text.replace(/[-.]/g, '').length <= DIGITS_MAX;
}

/**
 * @param {Members} field
 * @param {string} pointer
 */
function checkChoiceField({ choices, default: given }, pointer) {
	/** @type {Set<unknown>} */
	const values = new Set();
	const checked = checkList(choices, `${pointer}/choices`, 1, CHOICES_MAX, (choice, at) => {
		const { value, label } = checkMembers(choice, at, ['value', 'label']);
		if (typeof value !== 'string' || value === '' || Buffer.byteLength(value) > CHOICE_BYTES_MAX) {
			throw wrong(`${at}/value`, `must be a string of 1 to ${CHOICE_BYTES_MAX} bytes`);
		}
		// The page trims what is sent.
		if (value.startsWith(' ') || value.endsWith(' ')) throw wrong(`${at}/value`, 'must not begin or end with a space');
		checkCharacters(value, `${at}/value`);
		if (values.has(value)) throw wrong(`${at}/value`, 'must not occur twice');
		values.add(value);
		return { value, label: checkWords(label, `${at}/label`, LABEL_MAX) };
	});
	if (given !== undefined && !values.has(given)) throw wrong(`${pointer}/default`, 'must be one of the choices');
	return { choices: checked };
}

/**
 * @param {Members} field
 * @param {string} pointer
 */
function checkCheckbox({ default: given }, pointer) {
	if (given !== undefined && typeof given !== 'boolean') throw wrong(`${pointer}/default`, 'must be true or false');
	return {};
}

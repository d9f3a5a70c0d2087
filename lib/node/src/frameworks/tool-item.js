// What is bought where a framework's own function asks for it, which has no word for that:
// the tool with its arguments.

import { ITEM_MAX } from '../core/contract-limits.js';
import { canonicalJson } from '../core/canonical-json.js';
import { sha256 } from '../core/sha256.js';

/**
 * Options of an elicitation whose item need not be given.
 *
 * @template O
 * @typedef {O extends { item: string } ? Omit<O, 'item'> & { item?: string | undefined } : O} WithoutItem
 */

/**
 * The options with an item, which is their own if they have one. Only a payment or signature has one.
 *
 * @template {{ kind: string, item?: string | undefined }} O
 * @param {O} options
 * @param {{ name: string, args: unknown }} tool that is called
 * @returns {O}
 */
export function nameItem(options, tool) {
	if (options.item !== undefined || (options.kind !== 'payment' && options.kind !== 'signature')) return options;
	return { ...options, item: itemOf(tool) };
}

/**
 * @param {{ name: string, args: unknown }} tool
 * @returns {string} such as `buy_report {"year":2026}`; where that is too long, with a digest of the arguments
 */
export function itemOf({ name, args = {} }) {
	if (!isPlain(args)) throw new TypeError(`item is required: the arguments of ${name} are not plain JSON, of which one could be made`);
	const json = canonicalJson(args);
	if (json === '{}') return name;
	const item = `${name} ${json}`;
	return Buffer.byteLength(item) <= ITEM_MAX ? item : `${name} sha256:${sha256(json).toString('base64url')}`;
}

/**
 * Whether other values have another text. A date or a map, which a schema may have made, has no members.
 *
 * @param {unknown} value
 * @returns {boolean}
 */
function isPlain(value) {
	if (value === null || ['string', 'boolean', 'undefined'].includes(typeof value)) return true;
	if (typeof value !== 'object') return Number.isFinite(value);
	if (Array.isArray(value)) return value.every((each) => each !== undefined && isPlain(each));
	const prototype = Object.getPrototypeOf(value);
	return (prototype === Object.prototype || prototype === null) && Object.values(value).every(isPlain);
}

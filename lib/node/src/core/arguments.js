// Checks the arguments of callers. Each function returns the value or throws a
// TypeError that names it and says what it must be. The limits are those of the
// table.

import { DESCRIBED_KINDS } from './contract-kinds.js';
import {
	CALL_MAX_MS, CONSUMER_MAX, ITEM_MAX, NAME_MAX, PROVIDER_MAX, REASON_MAX, RECHECK_AFTER_MAX_MS, RECHECK_AFTER_MS, REFERENCE_MAX,
	SESSION_MAX, SUBJECT_MAX, TENANT_MAX, TTL_MAX_MS,
} from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { ACTIONS, MATCHES } from './contract-words.js';
import { isCurrency } from './currency.js';
import { byteLength } from './runtime.js';
import { RESULT_JSON_MAX } from './sizes.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PROVIDER = new RegExp(`^[a-z0-9][a-z0-9_-]{0,${PROVIDER_MAX - 1}}$`);
const CONSUMER = new RegExp(`^[a-z0-9_-]{1,${CONSUMER_MAX}}$`);
const TENANT = new RegExp(`^[a-z0-9_-]{0,${TENANT_MAX}}$`);
const REASON = new RegExp(`^[a-z0-9_]{0,${REASON_MAX}}$`);

/** @typedef {import('./types.js').Action} Action */

/**
 * @template {string} T
 * @param {string} name
 * @param {unknown} value
 * @param {readonly T[]} choices
 * @returns {T}
 */
export function checkChoice(name, value, choices) {
	const choice = choices.find((known) => known === value);
	if (choice === undefined) throw new TypeError(`${name} ${TEXTS.mustBeOneOf(choices.join(', '))}`);
	return choice;
}

/**
 * A unit of a text has one to three bytes in UTF-8, so that few have to be encoded.
 *
 * @param {string} text
 * @param {number} min bytes
 * @param {number} max bytes
 */
function hasBytes(text, min, max) {
	if (text.length >= min && 3 * text.length <= max) return true;
	const bytes = byteLength(text);
	return bytes >= min && bytes <= max;
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} min bytes
 * @param {number} max bytes
 * @returns {string}
 */
export function checkText(name, value, min, max) {
	if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
	if (!hasBytes(value, min, max)) throw new TypeError(`${name} ${TEXTS.mustHaveBytes(min, max)}`);
	// PostgreSQL accepts neither, and an unpaired surrogate would be encoded like another text.
	if (value.includes('\0') || !value.isWellFormed()) {
		throw new TypeError(`${name} ${TEXTS.mustBeText}`);
	}
	return value;
}

/**
 * @param {unknown} value
 * @param {string} [name]
 * @returns {string} lower case
 */
export function checkId(value, name = 'the elicitation id') {
	const id = typeof value === 'string' ? value.toLowerCase() : '';
	if (!UUID.test(id)) throw new TypeError(`${name} must be a UUID`);
	return id;
}

/** @param {unknown} value */
export function checkProvider(value) {
	if (typeof value !== 'string' || !PROVIDER.test(value)) {
		throw new TypeError(TEXTS.providerName);
	}
	return value;
}

/**
 * @param {unknown} value
 * @returns {string} empty: none
 */
export function checkTenant(value = '') {
	if (typeof value !== 'string' || !TENANT.test(value)) {
		throw new TypeError(TEXTS.tenantName);
	}
	return value;
}

/** @param {{ subject?: unknown, session?: unknown } | undefined} options */
export function checkOwner({ subject, session = '' } = {}) {
	return { subject: checkText('subject', subject, 1, SUBJECT_MAX), session: checkText('session', session, 0, SESSION_MAX) };
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} min milliseconds
 * @param {number} max milliseconds
 * @returns {number}
 */
export function checkMilliseconds(name, value, min, max) {
	if (!Number.isInteger(value) || Number(value) < min || Number(value) > max) {
		throw new TypeError(`${name} must be a whole number of milliseconds from ${min} to ${max}`);
	}
	return Number(value);
}

/** @param {unknown} value */
export function checkTtl(value) {
	if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > TTL_MAX_MS) {
		throw new TypeError('ttl must be a whole number of milliseconds, at least 1 and at most one year');
	}
	return Number(value);
}

/** @param {unknown} value */
export function checkTimeout(value) {
	if (typeof value !== 'number' || !(value >= 0)) {
		throw new TypeError('timeout must be a number of milliseconds: 0 checks once, Infinity waits until the elicitation is completed');
	}
	return value;
}

/**
 * @param {unknown} value
 * @param {import('./types.js').Kind} kind
 * @returns {import('./money-types.js').Expected | 'any' | null}
 */
export function checkExpected(value, kind) {
	if (kind !== 'payment') {
		if (value !== undefined) throw new TypeError(TEXTS.expectedNotAllowed);
		return null;
	}
	if (value === undefined) {
		throw new TypeError('expected is required for kind payment: { amount, currency } in minor units, '
			+ "or 'any' if any amount is accepted");
	}
	if (value === 'any') return value;
	const { amount, currency, match: how } = /** @type {Record<string, unknown>} */ (typeof value === 'object' ? value ?? {} : {});
	const match = how === undefined ? 'exact' : checkChoice('expected.match', how, MATCHES);
	if (match === 'checkout' && amount === undefined && currency === undefined) return { match };
	const price = { amount: checkAmount('expected.amount', amount), currency: checkCurrency('expected.currency', currency) };
	return match === 'exact' ? price : { ...price, match };
}

/**
 * @param {import('./money-types.js').Expected | 'any' | null | undefined} expected
 * @returns {expected is import('./money-types.js').Price & { match?: import('./money-types.js').Match }} whether it has a price
 */
export function hasPrice(expected) {
	return typeof expected === 'object' && expected?.amount !== undefined;
}

/**
 * What `targetUrl` is, or has returned: a URL, or one with the provider's id of the checkout.
 *
 * @param {unknown} value
 * @param {import('./types.js').Kind} kind
 * @returns {{ url: unknown, checkout: string | null }}
 */
export function checkTarget(value, kind) {
	if (typeof value !== 'object' || value === null || value instanceof URL) return { url: value, checkout: null };
	const { url, checkout } = /** @type {Record<string, unknown>} */ (value);
	if (kind !== 'payment') throw new TypeError(TEXTS.checkoutNotAllowed);
	return { url, checkout: checkText('checkout', checkout, 1, REFERENCE_MAX) };
}

/** @param {unknown} value */
export function checkAbout(value) {
	if (value === undefined) return undefined;
	if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError(`about ${TEXTS.mustBeObject}`);
	return value;
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {number}
 */
export function checkAmount(name, value) {
	if (!Number.isSafeInteger(value) || Number(value) < 0) {
		throw new TypeError(`${name} ${TEXTS.mustBeMinorUnits}`);
	}
	return Number(value);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @returns {string} upper case
 */
export function checkCurrency(name, value) {
	const code = typeof value === 'string' ? value.toUpperCase() : '';
	if (!isCurrency(code)) {
		throw new TypeError(`${name} ${TEXTS.mustBeCurrency}`);
	}
	return code;
}

/** @param {unknown} value */
export function checkReference(value) {
	return checkText('reference', value, 1, REFERENCE_MAX);
}

/**
 * @param {unknown} value
 * @returns {Date | null}
 */
export function checkSince(value) {
	if (value === undefined) return null;
	if (!(value instanceof Date) || Number.isNaN(value.getTime())) throw new TypeError('since must be a Date');
	return value;
}

/** @param {unknown} value */
export function checkConsumer(value) {
	if (typeof value !== 'string' || !CONSUMER.test(value)) {
		throw new TypeError(TEXTS.consumerName);
	}
	return value;
}

/**
 * @param {import('./money-types.js').PaidOptions} options
 * @returns {{ subject: string, item: string, since: Date | null, delivered: boolean }}
 */
export function checkPaid({ subject, item, since, delivered }) {
	return {
		subject: checkText('subject', subject, 1, SUBJECT_MAX), item: checkText('item', item, 1, ITEM_MAX), since: checkSince(since),
		delivered: checkFlag('delivered', delivered, false),
	};
}

/**
 * @param {string} name
 * @param {unknown} value
 */
export function checkFunction(name, value) {
	if (value !== undefined && typeof value !== 'function') throw new TypeError(`${name} ${TEXTS.mustBeFunction}`);
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {boolean} defaultValue
 */
export function checkFlag(name, value, defaultValue) {
	if (value === undefined) return defaultValue;
	if (typeof value !== 'boolean') throw new TypeError(`${name} ${TEXTS.mustBeBool}`);
	return value;
}

/** @param {unknown} value */
export function checkSignal(value) {
	if (value !== undefined && !(value instanceof AbortSignal)) throw new TypeError('signal must be an AbortSignal');
}

/**
 * @param {unknown} value
 * @returns {import('./types.js').ClientFacts[]}
 */
export function checkClients(value) {
	if (!Array.isArray(value)) throw new TypeError('clients must be an array');
	for (const { name, versions, url, ask, round, rounds, ...others } of value) {
		checkKnown('clients', others);
		checkText(TEXTS.clientName, name, 1, NAME_MAX);
		checkVersions(versions);
		checkFlag('url', url, false);
		if (ask !== undefined) checkChoice('ask', ask, ['request', 'error', 'text']);
		if (round !== undefined) checkMilliseconds('round', round, 1, CALL_MAX_MS);
		if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 0)) throw new TypeError('rounds must be a whole number');
	}
	return value;
}

/** @param {unknown} value of which versions something is known */
function checkVersions(value = {}) {
	if (typeof value !== 'object' || value === null) throw new TypeError('versions must be an object: { from, before }');
	const { from, before, ...others } = /** @type {Record<string, unknown>} */ (value);
	checkKnown('versions', others);
	for (const [name, version] of Object.entries({ from, before })) {
		if (version !== undefined && typeof version !== 'string') throw new TypeError(`${name} must be a version, as text`);
	}
}

/**
 * @param {string} name
 * @param {object} others the members that are not known
 */
function checkKnown(name, others) {
	const [member] = Object.keys(others);
	if (member !== undefined) throw new TypeError(`${name} has a member that is not known: ${member}`);
}

/**
 * @param {{ recheck?: import('./types.js').RecheckFunction | undefined, recheckAfter?: number | undefined }} options of a claim
 */
export function checkRecheck({ recheck, recheckAfter = RECHECK_AFTER_MS }) {
	checkFunction('recheck', recheck);
	return { recheck, recheckAfter: checkMilliseconds('recheckAfter', recheckAfter, 0, RECHECK_AFTER_MAX_MS) };
}

/**
 * @param {unknown} value
 * @returns {Map<string, import('./types.js').RecheckFunction>} by the names of providers
 */
export function checkRechecks(value) {
	if (typeof value !== 'object' || value === null) throw new TypeError('rechecks must be an object with functions');
	return new Map(Object.entries(value).filter(([, recheck]) => recheck !== undefined).map(([provider, recheck]) => {
		checkFunction(`rechecks.${checkProvider(provider)}`, recheck);
		return [provider, recheck];
	}));
}

/**
 * @param {unknown} value which shipped description an entry of the configuration has whose name is another one
 * @returns {Map<string, string>}
 */
export function checkDescriptions(value) {
	if (value === null || typeof value !== 'object') throw new TypeError('descriptions must be an object: { entry: description }');
	const descriptions = new Map(Object.entries(value));
	for (const [entry, description] of descriptions) {
		checkProvider(entry);
		if (!DESCRIBED_KINDS.has(description)) throw new TypeError(`descriptions.${entry} ${TEXTS.descriptionName}`);
	}
	return descriptions;
}

/**
 * @typedef {object} CheckedAnswer
 * @property {Action} action
 * @property {string} reason
 * @property {string | null} json the result
 * @property {number | null} amount
 * @property {string | null} currency
 * @property {string | null} reference
 */

/**
 * @param {{ action?: unknown, reason?: unknown, result?: unknown, amount?: unknown, currency?: unknown,
 *     reference?: unknown } | undefined} answer
 * @returns {CheckedAnswer}
 */
export function checkAnswer({ action, reason = '', result, amount, currency, reference } = {}) {
	return {
		reason: checkReason(reason),
		action: checkAction(action),
		json: toJson(result),
		amount: amount === undefined ? null : checkAmount('amount', amount),
		currency: currency === undefined ? null : checkCurrency('currency', currency),
		reference: reference === undefined ? null : checkReference(reference),
	};
}

/**
 * @param {unknown} value
 * @returns {Action}
 */
export function checkAction(value) {
	return checkChoice('action', value, ACTIONS);
}

/**
 * @param {unknown} value
 * @returns {string}
 */
export function checkReason(value) {
	if (typeof value !== 'string' || !REASON.test(value)) {
		throw new TypeError(TEXTS.reasonCode);
	}
	return value;
}

/**
 * @param {unknown} result
 * @returns {string | null}
 */
function toJson(result) {
	if (result === undefined) return null;
	const json = typeof result === 'object' && result !== null ? JSON.stringify(result) : undefined;
	if (!json?.startsWith('{')) throw new TypeError(TEXTS.resultNotJson);
	if (byteLength(json) > RESULT_JSON_MAX) throw new TypeError(TEXTS.resultTooLarge(RESULT_JSON_MAX));
	return json;
}

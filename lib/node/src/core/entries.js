// What a provider has, as a function of the caller says it, for a recheck or for
// `reconcile`: payments, and what went back of them.

import { checkAmount, checkChoice, checkCurrency, checkText } from './arguments.js';
import { ENTRIES_MAX, REFERENCE_MAX } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { ENTRY_STATUSES } from './contract-words.js';

/**
 * @typedef {import('./money-types.js').PaymentEntry} PaymentEntry
 * @typedef {import('./money-types.js').RefundEntry} RefundEntry
 * @typedef {{ payments: PaymentEntry[], refunds: RefundEntry[] }} Entries
 */

/** The members that say of what an entry is. */
const NAMES = /** @type {const} */ (['checkout', 'elicitationId']);

/**
 * Whether an answer has entries, and is not the short form for one outcome.
 *
 * @param {unknown} answer
 * @returns {answer is { payments?: unknown, refunds?: unknown }}
 */
export function hasEntries(answer) {
	return typeof answer === 'object' && answer !== null && ('payments' in answer || 'refunds' in answer);
}

/**
 * @param {{ payments?: unknown, refunds?: unknown }} answer
 * @param {number} [most] of each
 * @returns {Entries}
 */
export function checkEntries(answer, most = ENTRIES_MAX) {
	checkMembers('', answer, ['payments', 'refunds']);
	return {
		payments: checkEach('payments', answer.payments, most, (name, entry) => ({
			...checkNames(name, entry, ['reference', 'amount', 'currency', 'status']),
			reference: checkText(`${name}.reference`, entry.reference, 1, REFERENCE_MAX),
			amount: checkAmount(`${name}.amount`, entry.amount),
			currency: checkCurrency(`${name}.currency`, entry.currency),
			status: checkChoice(`${name}.status`, entry.status, ENTRY_STATUSES),
		})),
		refunds: checkEach('refunds', answer.refunds, most, (name, entry) => ({
			...checkNames(name, entry, ['reference', 'payment', 'amount', 'currency', 'status']),
			reference: checkText(`${name}.reference`, entry.reference, 1, REFERENCE_MAX),
			payment: checkText(`${name}.payment`, entry.payment, 1, REFERENCE_MAX),
			amount: checkAmount(`${name}.amount`, entry.amount),
			...entry.currency !== undefined && { currency: checkCurrency(`${name}.currency`, entry.currency) },
			status: checkChoice(`${name}.status`, entry.status, ENTRY_STATUSES),
		})),
	};
}

/**
 * @template Entry
 * @param {string} name
 * @param {unknown} value
 * @param {number} most
 * @param {(name: string, entry: Record<string, unknown>) => Entry} check
 */
function checkEach(name, value = [], most, check) {
	if (!Array.isArray(value) || value.length > most) throw new TypeError(`${name} must be an array of at most ${most} entries`);
	return value.map((entry, n) => {
		if (typeof entry !== 'object' || entry === null) throw new TypeError(`${name}[${n}] ${TEXTS.mustBeObject}`);
		return check(`${name}[${n}]`, entry);
	});
}

/**
 * @param {string} name of the entry
 * @param {Record<string, unknown>} entry
 * @param {string[]} others its other members
 */
function checkNames(name, entry, others) {
	checkMembers(`${name}.`, entry, [...others, ...NAMES]);
	/** @type {{ checkout?: string, elicitationId?: string }} */
	const names = {};
	for (const member of NAMES) {
		// The provider's record may have none.
		if (entry[member] !== undefined && entry[member] !== null) {
			names[member] = checkText(`${name}.${member}`, entry[member], 1, REFERENCE_MAX);
		}
	}
	return names;
}

/**
 * @param {string} place
 * @param {object} value
 * @param {string[]} members
 */
function checkMembers(place, value, members) {
	const other = Object.keys(value).find((member) => !members.includes(member));
	if (other !== undefined) throw new TypeError(`${place}${other} is not a member: ${members.join(', ')} are`);
}

/**
 * As the database takes them.
 *
 * @param {Entries} entries
 * @param {(payment: PaymentEntry) => object} [more] members of a payment
 */
export function toRows({ payments, refunds }, more = () => ({})) {
	return {
		payments: payments.map((entry) => ({ ...toRow(entry), ...more(entry) })),
		refunds: refunds.map(toRow),
	};
}

/** @param {PaymentEntry | RefundEntry} entry */
function toRow({ elicitationId, ...entry }) {
	return { ...entry, elicitation_id: elicitationId };
}

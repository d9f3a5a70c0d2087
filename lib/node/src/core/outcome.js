// The outcome that a wait has of a completed row.

import { RESULT_INFO, VERIFIER_INFO } from './contract-seals.js';
import { decisionOf } from './decision.js';
import { ElicitationSealError } from './errors.js';
import { seal, unseal } from './seal.js';

/** @typedef {import('./pkce.js').Verifier} Verifier */

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').Row} row that is completed
 * @param {Buffer} binding
 * @param {import('./waits.js').Known} known
 * @returns {import('./types.js').Outcome}
 * @throws {import('./errors.js').ElicitationSealError} no key opens the result or the verifier
 */
export function toOutcome(keys, row, binding, known) {
	const { id } = row;
	const result = row.result ? unseal(keys, { id, binding, use: RESULT_INFO }, row.result) : known.result;
	/** @type {import('./types.js').Outcome} */
	const outcome = { elicitationId: id, ...endOf(row), result };
	if (row.kind === 'payment') Object.assign(outcome, priceOf(row));
	if (row.payment_reference !== null) outcome.reference = row.payment_reference;
	else if (row.kind === 'payment' && outcome.action === 'accept') outcome.refunded = true;
	if (Number(row.refunded) > 0) outcome.refundedAmount = Number(row.refunded);
	if (row.kind === 'approval') Object.assign(outcome, decisionOf(result));
	// The verifier and nonce are only useful with a code.
	if (outcome.action === 'accept' && row.verifier) {
		const verifier = known.verifier ?? unsealVerifier(keys, row, binding);
		outcome.codeVerifier = verifier.code_verifier;
		if (verifier.nonce !== undefined) outcome.nonce = verifier.nonce;
	}
	return outcome;
}

/**
 * What was paid, and the price that was asked.
 *
 * @param {import('./database.js').Row} row of a payment
 * @returns {Pick<import('./types.js').Outcome, 'amount' | 'currency' | 'tax' | 'expected'>}
 */
function priceOf({ expected, amount, currency, tax }) {
	const { subscription, ...price } = /** @type {Record<string, unknown>} */ (typeof expected === 'object' ? expected ?? {} : {});
	return {
		...amount !== null && currency !== null && { amount: Number(amount), currency },
		...tax !== null && { tax: Number(tax) },
		...expected !== null && { expected: expected === 'any' ? expected : /** @type {import('./money-types.js').Expected} */ (price) },
	};
}

/**
 * The result of a payment that a recheck tells of: what an event would have told.
 *
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').RowKey} rowKey
 * @param {import('./money-types.js').PaymentEntry} payment
 * @returns {Buffer} sealed
 */
export function sealPayment(keys, rowKey, { reference, amount, currency }) {
	return seal(keys, { ...rowKey, use: RESULT_INFO }, JSON.stringify({ reference, amount, currency }));
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').RowKey} rowKey
 * @param {Buffer} result that a user has submitted, sealed
 * @returns {import('./form-types.js').Values}
 */
export function openValues(keys, rowKey, result) {
	const { values } = unseal(keys, { ...rowKey, use: RESULT_INFO }, result);
	return /** @type {import('./form-types.js').Values} */ (values);
}

/**
 * Opens the verifier of a row that is not completed, so that less remains to be
 * done when its outcome is announced.
 *
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').Row} row
 * @param {Buffer} binding
 * @returns {Verifier | undefined} undefined if there is none, or if no key opens it, which is an error only when it is needed
 */
export function openVerifier(keys, row, binding) {
	if (!row.verifier) return undefined;
	try {
		return unsealVerifier(keys, row, binding);
	} catch (error) {
		if (error instanceof ElicitationSealError) return undefined;
		throw error;
	}
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').Row} row with a verifier
 * @param {Buffer} binding
 */
function unsealVerifier(keys, { id, verifier }, binding) {
	return /** @type {Verifier} */ (unseal(keys, { id, binding, use: VERIFIER_INFO }, /** @type {Buffer} */ (verifier)));
}

/**
 * How a row has ended, and its status before, where this side has cancelled it.
 *
 * @param {import('./database.js').Row} row that is completed
 * @returns {import('./types.js').End}
 */
export function endOf({ action, reason, late, completed_from: from }) {
	/** @type {import('./types.js').End} */
	const end = { action: /** @type {import('./types.js').Action} */ (action), reason };
	if (late) end.late = true;
	if (from) end.from = from;
	return end;
}

// What a completed row says to those who wait for it.

import { RESULT, unseal, VERIFIER } from './seal.js';

/**
 * @param {import('./keys.js').KeysFile} keys
 * @param {import('./database.js').Row} row that is completed
 * @param {Buffer} binding
 * @param {Record<string, unknown>} [announced] the result, if it was announced
 * @returns {import('./types.js').Outcome}
 * @throws {import('./errors.js').ElicitationSealError} no key opens the result or the verifier
 */
export function toOutcome(keys, row, binding, announced) {
	const { id } = row;
	const result = row.result ? unseal(keys, { id, binding, use: RESULT }, row.result) : announced;
	/** @type {import('./types.js').Outcome} */
	const outcome = { elicitationId: id, ...endOf(row), result };
	if (row.payment_reference !== null) outcome.reference = row.payment_reference;
	else if (row.kind === 'payment' && outcome.action === 'accept') outcome.refunded = true;
	// The verifier and nonce are only useful with a code.
	if (outcome.action === 'accept' && row.verifier) {
		const verifier = /** @type {import('./pkce.js').Verifier} */ (unseal(keys, { id, binding, use: VERIFIER }, row.verifier));
		outcome.codeVerifier = verifier.code_verifier;
		if (verifier.nonce !== undefined) outcome.nonce = verifier.nonce;
	}
	return outcome;
}

/**
 * How a row has ended, and what a cancellation by this side has cut off.
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

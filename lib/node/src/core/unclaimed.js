// A payment that was proved and that no call has claimed, and a claim that was
// fulfilled and never confirmed, as the application sees them.

import { RESULT_INFO } from './contract-seals.js';
import { ElicitationSealError } from './errors.js';
import { unseal } from './seal.js';

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').UnclaimedRow} row
 * @returns {import('./money-types.js').UnclaimedPayment}
 */
export function toUnclaimedPayment(keys, row) {
	return {
		elicitationId: row.elicitation, provider: row.provider_name, subject: row.subject, session: row.session,
		item: row.item ?? undefined, resumeKey: row.resume_key ?? undefined, reference: row.reference, amount: Number(row.amount),
		currency: row.currency, matches: row.matches, late: row.late, provenAt: row.proven_at,
		refunded: Number(row.refunded), held: row.held,
		result: openResult(keys, row),
	};
}

/**
 * @param {import('./contract-money.js').UndeliveredRow} row
 * @returns {import('./money-types.js').UndeliveredClaim}
 */
export function toUndeliveredClaim(row) {
	return {
		elicitationId: row.elicitation, provider: row.provider_name, kind: row.kind, subject: row.subject, session: row.session,
		item: row.item ?? undefined, resumeKey: row.resume_key ?? undefined, reference: row.reference || undefined,
		amount: row.amount === null ? undefined : Number(row.amount), currency: row.currency ?? undefined,
		fulfilledAt: row.fulfilled_at, givenAt: row.given_at ?? undefined, hasResult: row.has_result,
		refunded: Number(row.refunded), held: row.held,
	};
}

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').UnclaimedRow} row
 * @returns {Record<string, unknown> | undefined} undefined if it was purged, or if no key opens it: the payment must
 *     be listed all the same
 */
function openResult(keys, { elicitation: id, binding, result }) {
	if (!result) return undefined;
	try {
		return unseal(keys, { id, binding, use: RESULT_INFO }, result);
	} catch (error) {
		if (error instanceof ElicitationSealError) return undefined;
		throw error;
	}
}

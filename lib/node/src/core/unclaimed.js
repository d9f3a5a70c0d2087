// A payment that was proved and that no call has claimed, as the application
// sees it.

import { RESULT_INFO } from './contract-seals.js';
import { ElicitationSealError } from './errors.js';
import { unseal } from './seal.js';

/**
 * @param {import('./keys.js').KeyRing} keys
 * @param {import('./database.js').UnclaimedRow} row
 * @returns {import('./types.js').UnclaimedPayment}
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

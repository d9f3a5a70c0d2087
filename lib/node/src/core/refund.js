// What went back of a payment, as the application sees it.

/**
 * @param {import('./database.js').RefundRow} row
 * @returns {import('./money-types.js').Refund}
 */
export function toRefund(row) {
	const toNumber = (/** @type {string | null} */ value) => (value === null ? undefined : Number(value));
	return {
		elicitationId: row.elicitation, provider: row.provider_name, subject: row.subject ?? undefined,
		session: row.session ?? undefined, item: row.item ?? undefined, resumeKey: row.resume_key ?? undefined,
		reference: row.reference, amount: toNumber(row.amount), currency: row.currency ?? undefined,
		reversed: toNumber(row.reversed), receivedAt: row.received_at, changedAt: row.changed_at,
		payment: row.payment === null ? undefined : {
			reference: row.payment, amount: Number(row.paid), refunded: Number(row.refunded), held: row.held === true,
			claimed: row.claimed,
		},
	};
}

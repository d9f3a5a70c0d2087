// Who has decided an approval, as the application sees it.

/**
 * @param {Record<string, unknown> | undefined} result undefined if nobody has decided, or if it was purged
 * @returns {Pick<import('./types.js').Outcome, 'approver' | 'comment' | 'decidedAt' | 'signedInAt' | 'signedInBy'>}
 */
export function decisionOf({ approver, comment, decided_at: decidedAt, signed_in_at: signedInAt, signed_in_by: signedInBy } = {}) {
	return {
		...typeof approver === 'string' && { approver },
		...typeof comment === 'string' && { comment },
		...typeof decidedAt === 'string' && { decidedAt: new Date(decidedAt) },
		...typeof signedInAt === 'string' && { signedInAt: new Date(signedInAt) },
		...typeof signedInBy === 'string' && { signedInBy },
	};
}

// The outcome that a wait has of what the api shows of a row.

import { decisionOf } from '../core/decision.js';

/**
 * @param {import('./api.js').Members} shown that is completed
 * @returns {import('../core/types.js').Outcome}
 */
export function toOutcome(shown) {
	const { id, kind, action, reason, reference, amount, currency, late, from, tax, expected, refunded, code_verifier: codeVerifier, nonce } = shown;
	const result = shown.result ?? undefined;
	return {
		elicitationId: id, action, reason, result,
		...late && { late }, ...from && { from },
		...kind === 'payment' && {
			...amount !== null && currency !== null && { amount, currency },
			...typeof tax === 'number' && { tax }, ...expected && { expected },
			...reference === null && action === 'accept' && { refunded: true },
		},
		...reference !== null && { reference },
		...refunded > 0 && { refundedAmount: refunded },
		...kind === 'approval' && decisionOf(result),
		...codeVerifier !== null && action === 'accept' && { codeVerifier, ...nonce !== null && { nonce } },
	};
}

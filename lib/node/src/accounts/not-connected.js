// How a call says that an account is not connected, and why.

import { ACCOUNT_CODE_MAX } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { warn } from '../core/runtime.js';

/** What a provider names an error. */
export const CODE = new RegExp(`^[A-Za-z_-]{1,${ACCOUNT_CODE_MAX}}$`);

/** The body of an account's claim throws it: no error of the call, but its result. */
export class NotConnected extends Error {
	/**
	 * @param {import('./types.js').Refusal} reason
	 * @param {string} detail
	 */
	constructor(reason, detail) {
		super(reason);
		this.reason = reason;
		this.detail = detail;
	}
}

/**
 * What the provider has said instead of a code (RFC 6749 section 4.1.2.1). Its
 * words come by the browser, so that only codes are repeated.
 *
 * @param {Record<string, unknown> | undefined} result of the elicitation
 * @returns {string | undefined}
 */
export function authorizationDetail({ error, error_description: description } = {}) {
	if (typeof error !== 'string' || !CODE.test(error)) return undefined;
	const demandsPkce = typeof description === 'string' && /code.?challenge|pkce/i.test(description);
	return demandsPkce ? `${error}, about PKCE` : error;
}

/**
 * For the operator: the result of the call says less.
 *
 * @param {string} provider
 * @param {string} elicitationId
 * @param {string} reason
 * @param {string} detail
 */
export function warnNotConnected(provider, elicitationId, reason, detail) {
	warn(TEXTS.noAccount(provider, reason, detail, elicitationId), 'URLMODE_ACCOUNT');
}

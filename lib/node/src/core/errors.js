// The errors of this package. Besides these it throws TypeError for mistakes
// in a call, and passes on errors of PostgreSQL. Every class has its own
// `code`. No error contains a key, a token, a result or a password.

import { TEXTS } from './contract-texts.js';
import { UrlModeError } from './error.js';

export * from './contract-errors.js';
export { UrlModeError };

/** `timeout` passed before the elicitation was completed. It stays open: wait again, or cancel it. */
export class ElicitationTimeoutError extends UrlModeError {
	/**
	 * @param {string} id
	 * @param {number} timeout milliseconds
	 * @param {import('./contract-words.js').OpenStatus} status
	 */
	constructor(id, timeout, status) {
		super('ELICITATION_TIMEOUT', timeout === 0 ? TEXTS.openStill(id) : TEXTS.timedOut(id, `within ${timeout} ms`));
		/** The last status that the wait has seen. */
		this.status = status;
	}
}

/**
 * The requestState of a call is not valid for it: it was changed, has expired, or belongs to another user or request.
 * An adapter throws it.
 */
export class RequestStateError extends UrlModeError {
	/** @param {'invalid_request_state' | 'expired_request_state'} reason */
	constructor(reason) {
		super('REQUEST_STATE', TEXTS.requestState(reason === 'expired_request_state' ? TEXTS.requestStateExpired : TEXTS.requestStateForeign));
		this.reason = reason;
	}
}

/** The provider's API has refused the access token, as with status 401. The body of `useAccount` throws it. */
export class TokenRefusedError extends UrlModeError {
	constructor() {
		super('TOKEN_REFUSED', TEXTS.tokenRefused);
	}
}

/** PostgreSQL did not answer in time. */
export class UrlModeUnavailableError extends UrlModeError {
	/**
	 * @param {'notSent' | 'notAnswered'} what has happened to the call
	 * @param {unknown} cause the error of the driver
	 */
	constructor(what, cause) {
		super('URLMODE_UNAVAILABLE', TEXTS.unavailable(what === 'notSent' ? TEXTS.unavailableNotSent : TEXTS.unavailableNotAnswered));
		this.cause = cause;
		/** Whether the call may have been carried out. */
		this.maybeDone = what === 'notAnswered';
	}
}

/** A user cannot be forgotten while payments are unclaimed. Nothing was deleted. */
export class UnclaimedPaymentsError extends UrlModeError {
	/** @param {import('../vault/types.js').UnclaimedReference[]} payments */
	constructor(payments) {
		super('UNCLAIMED_PAYMENTS', TEXTS.unclaimedPayments(payments.length));
		this.payments = payments;
	}
}

/** A state token is invalid or expired. No function of the package throws it. */
export class StateTokenError extends UrlModeError {
	/** @param {'STATE_INVALID' | 'STATE_EXPIRED'} code */
	constructor(code) {
		super(code, code === 'STATE_EXPIRED' ? TEXTS.stateExpired : TEXTS.stateNotValid);
	}
}

/**
 * Whether PostgreSQL has answered with an error. Not by its class, because `pool` may come from another copy of pg.
 *
 * @param {unknown} error
 * @returns {error is Error & { code: string, detail?: string | undefined }}
 */
export function isDatabaseError(error) {
	return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string';
}

// The lease of a claim: it is renewed while a call works under it, and ends with the work.
// Who keeps it is given by its operations: PostgreSQL itself, or the api.

import { checkReference } from './arguments.js';
import { CLAIM_RENEWALS, CLAIM_RETRY_MS } from './contract-limits.js';
import { TEXTS } from './contract-texts.js';
import { ClaimLostError, ClaimRefundedError, UrlModeClosedError } from './errors.js';
import { jittered } from './jitter.js';
import { backgroundTimer, byteLength, pause } from './runtime.js';
import { FULFILLED_JSON_MAX } from './sizes.js';

/**
 * @param {ClaimEnd} how
 * @param {string | undefined} refund
 */
export function checkRefund(how, refund) {
	if (how !== 'delivered' && how !== 'refunded') throw new TypeError("a claim ends as 'delivered' or 'refunded'");
	if (refund !== undefined && how !== 'refunded') throw new TypeError(TEXTS.refundOfOtherEnd);
	return refund === undefined ? null : checkReference(refund);
}

/** Why an account is not connected, if the call does not say it. */
const EXCHANGE_FAILED = 'exchange_failed';

/**
 * The claim of an account is final. Its end says whether the account is connected, and keeps no result.
 *
 * @param {(why: string) => Promise<boolean>} end
 * @returns {import('./types.js').BegunClaim}
 */
export function accountClaim(end) {
	return {
		state: 'begun', reference: undefined, fence: undefined, signal: new AbortController().signal,
		fulfil: async () => {
			await end('').catch(() => {}); // The account is connected, and its page stays neutral.
			return false;
		},
		confirm: async () => false,
		release: (why = EXCHANGE_FAILED) => end(why),
		hold: async () => {
			throw new TypeError(TEXTS.accountClaimIsFinal);
		},
		end: async () => {
			throw new TypeError(TEXTS.accountIsConnected);
		},
	};
}

/**
 * @typedef {import('./types.js').ClaimEnd} ClaimEnd
 * @typedef {Awaited<ReturnType<typeof import('./contract-claims.js').renewLease>>} Renewed
 * @typedef {Awaited<ReturnType<typeof import('./contract-claims.js').fulfilLease>>} Fulfilled
 *
 * @typedef {object} LeaseOperations each lost, or false, if another call has begun since
 * @property {() => Promise<Renewed>} renew
 * @property {(json: string) => Promise<Fulfilled>} fulfil
 * @property {(how: ClaimEnd, refund: string | null) => Promise<Fulfilled>} end
 * @property {() => Promise<boolean>} confirm
 * @property {() => Promise<boolean>} release
 * @property {(ms: number) => Promise<Renewed>} hold the lease for so long
 * @property {() => void} ended
 * @property {(error: unknown) => boolean} isRefusedChange whether the same call would be refused again
 */

/**
 * What the caller gets of a lease.
 *
 * @param {Lease} lease
 * @param {{ reference: string | undefined, fence: number }} claim
 * @returns {import('./types.js').BegunClaim}
 */
export function begunClaim(lease, claim) {
	return {
		state: 'begun', ...claim, signal: lease.signal,
		fulfil: (result) => lease.fulfil(result), confirm: () => lease.confirm(), release: () => lease.release(), hold: (ms) => lease.hold(ms),
		end: async (how, refund) => lease.end(how, checkRefund(how, refund)),
	};
}

/** The lease of one call. The time that it lasts is counted from before it was asked for. */
export class Lease {
	#id;
	#ms;
	#operations;
	#abort = new AbortController();
	#until = 0;
	/** Whether the work is done, also if PostgreSQL could not be told: then it is not given back. */
	#isDone = false;
	/** When it was last asked for, by performance.now(). */
	#asked;
	/** Whether it is to be renewed at once when the renewal that is under way has ended; undefined: none is. */
	#again = /** @type {boolean | undefined} */ (undefined);
	/** @type {import('./runtime.js').Timer | undefined} */
	#end;
	/** @type {import('./runtime.js').Timer | undefined} */
	#next;
	/** The renewal that is under way, if there is one. */
	#renewal = Promise.resolve();

	/**
	 * @param {string} id
	 * @param {number} ms
	 * @param {number} asked when it was asked for, by performance.now()
	 * @param {LeaseOperations} operations
	 */
	constructor(id, ms, asked, operations) {
		this.#id = id;
		this.#ms = ms;
		this.#operations = operations;
		this.#asked = asked;
		this.#last(asked);
	}

	get id() {
		return this.#id;
	}

	/** @returns {AbortSignal} */
	get signal() {
		return this.#abort.signal;
	}

	/** Not more often than a database that does not answer is asked. */
	renewSoon() {
		if (this.#end === undefined) return;
		if (this.#again === undefined) this.#renewIn(Math.max(0, this.#asked + CLAIM_RETRY_MS - performance.now()));
		else this.#again = true;
	}

	/**
	 * @param {unknown} result
	 * @returns {Promise<boolean>} whether it is kept. If not, the lease goes on
	 */
	async fulfil(result) {
		const json = toJson(result);
		if (json === undefined) return false;
		this.#isDone = true;
		await this.#lastStep(() => this.#operations.fulfil(json));
		return true;
	}

	/**
	 * @param {ClaimEnd} how
	 * @param {string | null} refund
	 */
	async end(how, refund) {
		this.#isDone = true;
		await this.#lastStep(() => this.#operations.end(how, refund));
	}

	async confirm() {
		this.#isDone = true;
		const done = await this.#operations.confirm();
		this.#stop();
		return done;
	}

	async release() {
		this.#stop();
		return !this.#isDone && this.#operations.release();
	}

	/**
	 * Keeps the lease without renewals, for the next round of the call.
	 *
	 * @param {number} ms
	 */
	async hold(ms) {
		this.#isDone = true;
		clearTimeout(this.#next);
		await this.#renewal;
		await this.#lastStep(() => this.#operations.hold(ms));
	}

	/** @param {Error} reason */
	drop(reason) {
		this.#stop();
		this.#abort.abort(reason);
	}

	/** @param {() => Promise<Renewed | Fulfilled>} ask */
	async #lastStep(ask) {
		const answer = await this.#whileItLasts(ask).finally(() => this.#stop());
		if (answer === 'lost') throw new ClaimLostError(this.#id);
		this.report(answer);
	}

	/**
	 * All that was paid went back. The work may go on.
	 *
	 * @param {Renewed | Fulfilled} answer
	 */
	report(answer) {
		if (answer === 'refunded' || answer === 'disputed') this.#abort.abort(new ClaimRefundedError(this.#id));
	}

	/**
	 * The work is done, so a database that does not answer is asked again, for the
	 * time of one lease. No other call can begin meanwhile.
	 *
	 * @template T
	 * @param {() => Promise<T>} ask
	 */
	async #whileItLasts(ask) {
		const until = performance.now() + this.#ms;
		for (;;) {
			try {
				return await ask();
			} catch (error) {
				const over = performance.now() >= Math.min(until, this.#until);
				if (this.#operations.isRefusedChange(error) || error instanceof UrlModeClosedError || over) throw error;
				await pause(jittered(CLAIM_RETRY_MS));
			}
		}
	}

	/** @param {number} asked when the lease was asked for */
	#last(asked) {
		clearTimeout(this.#end);
		this.#until = asked + this.#ms;
		this.#end = backgroundTimer(() => this.drop(new ClaimLostError(this.#id)), this.#until - performance.now());
		this.#renewIn(this.#ms / CLAIM_RENEWALS);
	}

	/** @param {number} ms */
	#renewIn(ms) {
		clearTimeout(this.#next);
		this.#next = backgroundTimer(() => {
			this.#renewal = this.#renew();
		}, ms);
	}

	async #renew() {
		const asked = this.#asked = performance.now();
		const running = this.#end;
		let again;
		this.#again = false;
		try {
			const answer = await this.#operations.renew().finally(() => {
				again = this.#again;
				this.#again = undefined;
			});
			if (this.#end !== running) return;
			if (answer === 'lost') return this.drop(new ClaimLostError(this.#id));
			this.report(answer);
			this.#last(asked);
			if (again) this.renewSoon();
		} catch {
			if (this.#end === running) this.#renewIn(jittered(Math.min(CLAIM_RETRY_MS, this.#ms / CLAIM_RENEWALS)));
		}
	}

	#stop() {
		clearTimeout(this.#end);
		clearTimeout(this.#next);
		this.#end = undefined;
		this.#operations.ended();
	}
}

/**
 * @param {unknown} result
 * @returns {string | undefined} undefined if it is too large to be kept, or cannot be written as JSON
 */
function toJson(result) {
	try {
		const json = JSON.stringify({ result });
		return byteLength(json) <= FULFILLED_JSON_MAX ? json : undefined;
	} catch {
		return undefined;
	}
}

// Claims over HTTP. The lease is the same as that of the package (core/lease.js); the api keeps it.

import { CLAIM_RETRY_MS, RECHECK_LEASE_MS } from '../core/contract-limits.js';
import { ClaimLostError, ElicitationNotFoundError, ElicitationOpenError, UrlModeClosedError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
import { accountClaim, begunClaim, checkRefund, Lease } from '../core/lease.js';
import { pause } from '../core/runtime.js';
import { isLost, UrlModeApiError } from './api.js';

/** Statuses that a call with the same body would have again. */
const REFUSALS = [400, 401, 404, 409, 413];

/**
 * @typedef {import('../core/types.js').Claim} Claim
 * @typedef {{ id: string, subject: string, session: string }} Owned an elicitation and its owner
 *
 * @typedef {import('../core/types.js').RecheckFunction} RecheckFunction
 * @typedef {{ recheck: RecheckFunction | undefined, recheckAfter: number }} AskOptions
 * @typedef {AskOptions & { action: string, reference: string | undefined, held: boolean }} AtOnceOptions
 *
 * @typedef {object} BeginFields
 * @property {string | undefined} reference
 * @property {boolean} anyPayment also one that does not match, or is held
 * @property {number} lease milliseconds
 * @property {number} timeout milliseconds to wait while another call holds the lease
 * @property {AbortSignal | undefined} signal ends this wait
 * @property {string} claimId
 * @property {number | undefined} [fence] of the round before of the same call, which has held the claim
 *
 * @typedef {BeginFields & AskOptions} BeginOptions
 */

export class Claims {
	#api;
	#ask;
	#rechecks;
	/** @type {Set<Lease>} */
	#leases = new Set();

	/**
	 * @param {import('./api.js').Api} api
	 * @param {import('./questions.js').Questions['askAbout']} ask asks the provider, under a lease that the api has given. Rejects with the
	 *     error of the function
	 * @param {Map<string, RecheckFunction>} rechecks by the names of providers
	 */
	constructor(api, ask, rechecks) {
		this.#api = api;
		this.#ask = ask;
		this.#rechecks = rechecks;
	}

	/**
	 * @param {Owned} owned
	 * @param {BeginOptions} options
	 * @returns {Promise<Claim>}
	 */
	async begin(owned, options) {
		const until = performance.now() + options.timeout;
		let age = this.#ageOf(options);
		for (;;) {
			options.signal?.throwIfAborted();
			const claim = await this.#begin(owned, options, age);
			if ('event' in claim) {
				age = await this.#askFirst(owned, claim.event, options, age);
				continue;
			}
			const rest = until - performance.now();
			if (claim.state !== 'leased' || rest <= 0) return claim;
			await pause(Math.min(rest, jittered(CLAIM_RETRY_MS)), options.signal);
		}
	}

	/**
	 * Claims an outcome with both ends at once. Waits while another instance asks the provider.
	 *
	 * @param {Owned} owned
	 * @param {AtOnceOptions} options
	 * @returns {Promise<boolean>} false if another call has claimed it, it has another outcome by now, or it does not exist any more
	 */
	async claimAtOnce(owned, options) {
		const { action, reference, held } = options;
		for (let age = action === 'accept' ? this.#ageOf(options) : undefined; ;) {
			try {
				await this.#api.call('claim', { ...owned, action, reference, held, recheck_after_ms: age }, { repeatable: false });
				return true;
			} catch (error) {
				if (!(error instanceof UrlModeApiError)) throw error;
				if (['taken', 'changed', 'not_found'].includes(error.reason)) return false;
				if (error.reason !== 'recheck') throw error;
				if (error.recheck) age = await this.#askFirst(owned, error.recheck, options, age);
				else await pause(Math.min(error.leftMs, jittered(CLAIM_RETRY_MS)));
			}
		}
	}

	/**
	 * @param {AskOptions} options
	 * @returns {number | undefined} how old the last answer of the provider may be; undefined: nobody can ask
	 */
	#ageOf({ recheck, recheckAfter }) {
		return recheck || this.#rechecks.size > 0 ? recheckAfter : undefined;
	}

	/**
	 * Asks the provider before the claim begins: what it has may have gone back. If that fails, the claim does not begin.
	 *
	 * @param {Owned} owned
	 * @param {import('./api.js').Members} event
	 * @param {AskOptions & { signal?: AbortSignal | undefined }} options
	 * @param {number | undefined} age
	 * @returns {Promise<number | undefined>} that of the next try
	 */
	async #askFirst(owned, event, options, age) {
		const recheck = options.recheck ?? this.#rechecks.get(event.provider);
		await this.#ask(owned, event, recheck, options.signal);
		return recheck && Math.max(Number(age), RECHECK_LEASE_MS);
	}

	/** Aborts the signals of all claims that are under way. Their leases end by themselves. */
	close() {
		for (const lease of this.#leases) lease.drop(new UrlModeClosedError());
	}

	/**
	 * @param {Owned} owned
	 * @param {BeginOptions} options
	 * @param {number | undefined} age
	 * @returns {Promise<Claim | { event: import('./api.js').Members }>} event: about which the provider must be asked first
	 */
	async #begin(owned, { reference, anyPayment, lease, claimId, fence: earlier }, age) {
		const asked = performance.now();
		let begun;
		try {
			begun = await this.#api.call('begin_claim', {
				...owned, reference, any_payment: anyPayment, lease_ms: lease, claim_id: claimId, recheck_after_ms: age, fence: earlier,
			});
		} catch (error) {
			return toState(error, owned.id);
		}
		if (begun.fence === null) return accountClaim((reason) => this.#endAccount(owned, reason));
		const operations = this.#operationsOf(owned, begun.fence, lease);
		const common = { reference: begun.reference ?? undefined, fence: begun.fence };
		if (begun.state === 'fulfilled') {
			const { confirm, release } = operations;
			const end = async (/** @type {import('../core/types.js').ClaimEnd} */ how, /** @type {string | undefined} */ refund) => {
				if (await operations.end(how, checkRefund(how, refund)) === 'lost') throw new ClaimLostError(owned.id);
			};
			return { state: 'fulfilled', ...common, result: begun.result, confirm, release, end };
		}
		/** @type {Lease} */
		const held = new Lease(owned.id, lease, asked, { ...operations, ended: () => this.#leases.delete(held) });
		held.report(begun.money ?? 'renewed');
		this.#leases.add(held);
		return begunClaim(held, common);
	}

	/**
	 * @param {Owned} owned
	 * @param {number} fence
	 * @param {number} lease milliseconds
	 * @returns {Omit<import('../core/lease.js').LeaseOperations, 'ended'>}
	 */
	#operationsOf(owned, fence, lease) {
		const key = { ...owned, fence };
		/** @type {(ask: Promise<import('./api.js').Members>) => Promise<any>} */
		const moneyOf = (ask) => ask.then(({ money = 'renewed' }) => money, lostIn);
		/** @type {(ask: Promise<import('./api.js').Members>) => Promise<boolean>} */
		const isDone = (ask) => ask.then(() => true, (error) => lostIn(error) !== 'lost');
		return {
			renew: () => moneyOf(this.#api.call('renew_claim', { ...key, lease_ms: lease })),
			// What JSON cannot write is null there.
			fulfil: (json) => moneyOf(this.#api.call('fulfil_claim', key, { suffix: json === '{}' ? '"result":null' : json.slice(1, -1) })),
			end: (how, refund) => moneyOf(this.#api.call('fulfil_claim', { ...key, end: how, refund: refund ?? undefined })),
			confirm: () => isDone(this.#api.call('confirm_claim', key)),
			// A second one would say that the first was another's.
			release: () => isDone(this.#api.call('release_claim', key, { repeatable: false })),
			hold: (ms) => moneyOf(this.#api.call('renew_claim', { ...key, lease_ms: ms })),
			isRefusedChange,
		};
	}

	/**
	 * @param {Owned} owned of an account
	 * @param {string} reason empty: it is connected
	 */
	async #endAccount(owned, reason) {
		const end = reason === '' ? this.#api.call('fulfil_claim', owned) : this.#api.call('release_claim', { ...owned, reason });
		return end.then(() => true, (error) => lostIn(error) !== 'lost');
	}
}

/**
 * What the api itself says. A status of a proxy between, such as 500 or 403, may not be there the next time.
 *
 * @param {unknown} error
 */
function isRefusedChange(error) {
	return error instanceof TypeError || error instanceof UrlModeApiError && REFUSALS.includes(error.status);
}

/**
 * @param {unknown} error
 * @returns {'lost'} if the lease has ended
 */
function lostIn(error) {
	if (isLost(error)) return 'lost';
	throw error;
}

/**
 * @param {unknown} error of begin_claim
 * @param {string} id
 * @returns {Claim | { event: import('./api.js').Members }}
 */
function toState(error, id) {
	if (!(error instanceof UrlModeApiError)) throw error;
	switch (error.reason) {
	case 'taken': return { state: 'taken' };
	case 'changed': return { state: 'changed' };
	case 'recheck':
		if (error.recheck) return { event: error.recheck };
		// falls through: somebody else asks, or has failed just now
	case 'leased': return { state: 'leased', until: new Date(Date.now() + error.leftMs) };
	case 'not_found': throw new ElicitationNotFoundError(id);
	case 'open': throw new ElicitationOpenError(id);
	default: throw error;
	}
}

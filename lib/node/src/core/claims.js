// Claims with two ends: the work is done, and the answer was written. A call
// does its work under a lease, which is renewed while it runs. What it has
// returned is sealed with the claim, and the next call is given that, until the
// answer was written (../../../sql/functions/004_claim.sql).

import { setTimeout as sleep } from 'node:timers/promises';

import * as sql from './contract-calls.js';
import { CLAIM_RENEWALS, CLAIM_RETRY_MS } from './contract-limits.js';
import { FULFILLED_INFO } from './contract-seals.js';
import { ClaimLostError, ElicitationNotFoundError, ElicitationOpenError, UrlModeClosedError } from './errors.js';
import { isRefusal } from './database.js';
import { jittered } from './jitter.js';
import { FULFILLED_JSON_MAX, seal, unseal } from './seal.js';

/**
 * @typedef {import('./database.js').RowKey} RowKey
 * @typedef {import('./types.js').Claim} Claim
 *
 * @typedef {object} BeginOptions
 * @property {string | null} reference of the payment; null: the oldest that matches
 * @property {number} lease milliseconds
 * @property {number} timeout milliseconds to wait while another call holds the lease
 * @property {AbortSignal | undefined} signal ends this wait
 */

export class Claims {
	#query;
	#keys;
	#keep;
	/** @type {Set<Lease>} */
	#leases = new Set();

	/**
	 * @param {Pick<import('./database.js').Database, 'query'>} database
	 * @param {import('./keys.js').KeyRing} keys
	 * @param {number} keep milliseconds that a result is kept after the last end of its claim
	 */
	constructor(database, keys, keep) {
		this.#query = database.query.bind(database);
		this.#keys = keys;
		this.#keep = keep;
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {BeginOptions} options
	 * @returns {Promise<Claim>}
	 */
	async begin(rowKey, options) {
		const until = performance.now() + options.timeout;
		for (;;) {
			options.signal?.throwIfAborted();
			const claim = await this.#begin(rowKey, options);
			const rest = until - performance.now();
			if (claim.state !== 'leased' || rest <= 0) return claim;
			await sleep(Math.min(rest, jittered(CLAIM_RETRY_MS)), undefined, options.signal && { signal: options.signal })
				.catch(() => {}); // The loop throws the reason of the signal.
		}
	}

	/**
	 * @param {RowKey} rowKey of an account whose claim another call has
	 * @returns {Promise<string | undefined>} how the exchange has ended: empty, it is connected; otherwise why not; undefined: it has not
	 */
	async readExchange(rowKey) {
		const exchange = await sql.readExchange(this.#query, rowKey);
		return exchange === 'exchanging' ? undefined : exchange ?? undefined;
	}

	/** Aborts the signals of all claims that are under way. Their leases end by themselves. */
	close() {
		for (const lease of this.#leases) lease.drop(new UrlModeClosedError());
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {BeginOptions} options
	 * @returns {Promise<Claim>}
	 */
	async #begin({ id, binding }, { reference: wanted, lease }) {
		const asked = performance.now();
		const { outcome, claimed_reference: reference, fence, fulfilled, leased_ms: leased } = await sql.beginClaim(
			this.#query, { id, binding, reference: wanted, leaseMs: lease, keepMs: this.#keep });
		const confirm = () => sql.confirmClaim(this.#query, { id, binding, fence, keepMs: this.#keep });
		const common = { reference: reference || undefined, fence: Number(fence) };
		switch (outcome) {
		case 'unknown': throw new ElicitationNotFoundError(id);
		case 'open': throw new ElicitationOpenError(id);
		case 'leased': return { state: 'leased', until: new Date(Date.now() + Number(leased)) };
		case 'fulfilled': {
			const { result } = unseal(this.#keys, { id, binding, use: FULFILLED_INFO }, fulfilled);
			return { state: 'fulfilled', ...common, result, confirm };
		}
		case 'claimed': return accountClaim((reason) => sql.endExchange(this.#query, { id, binding, reason }));
		case 'begun': break;
		default: return { state: outcome };
		}
		const held = new Lease(id, lease, asked, {
			renew: () => sql.renewClaim(this.#query, { id, binding, fence, leaseMs: lease }),
			fulfil: (json) => sql.fulfilClaim(
				this.#query, { id, binding, fence, fulfilled: seal(this.#keys, { id, binding, use: FULFILLED_INFO }, json) }),
			confirm,
			release: () => sql.releaseClaim(this.#query, { id, binding, fence }),
			ended: () => this.#leases.delete(held),
		});
		this.#leases.add(held);
		return {
			state: 'begun', ...common, signal: held.signal,
			fulfil: (result) => held.fulfil(result), confirm: () => held.confirm(), release: () => held.release(),
		};
	}
}

/** Why an account is not connected, if the call does not say it. */
const EXCHANGE_FAILED = 'exchange_failed';

/**
 * The claim of an account is final. Its end says whether the account is connected, and keeps no result.
 *
 * @param {(why: string) => Promise<boolean>} end
 * @returns {import('./types.js').BegunClaim}
 */
function accountClaim(end) {
	return {
		state: 'begun', reference: undefined, fence: undefined, signal: new AbortController().signal,
		fulfil: async () => {
			await end('').catch(() => {}); // The account is connected, and its page stays neutral.
			return false;
		},
		confirm: async () => false,
		release: (why = EXCHANGE_FAILED) => end(why),
	};
}

/**
 * @typedef {object} LeaseOperations each false if another call has begun since
 * @property {() => Promise<boolean>} renew
 * @property {(json: string) => Promise<boolean>} fulfil
 * @property {() => Promise<boolean>} confirm
 * @property {() => Promise<boolean>} release
 * @property {() => void} ended
 */

/** The lease of one call. The time that it lasts is counted from before it was asked for. */
class Lease {
	#id;
	#ms;
	#operations;
	#abort = new AbortController();
	#until = 0;
	/** @type {NodeJS.Timeout | undefined} */
	#end;
	/** @type {NodeJS.Timeout | undefined} */
	#next;

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
		this.#last(asked);
	}

	get signal() {
		return this.#abort.signal;
	}

	/**
	 * @param {unknown} result
	 * @returns {Promise<boolean>} whether it is kept
	 */
	async fulfil(result) {
		const json = toJson(result);
		const done = await this.#whileItLasts(() => (json === undefined ? this.#operations.confirm() : this.#operations.fulfil(json)))
			.finally(() => this.#stop());
		if (!done) throw new ClaimLostError(this.#id);
		return json !== undefined;
	}

	async confirm() {
		const done = await this.#operations.confirm();
		this.#stop();
		return done;
	}

	async release() {
		this.#stop();
		return this.#operations.release();
	}

	/** @param {Error} reason */
	drop(reason) {
		this.#stop();
		this.#abort.abort(reason);
	}

	/**
	 * The work is done, so a database that does not answer is asked again, for the
	 * time of one lease. No other call can begin meanwhile.
	 *
	 * @param {() => Promise<boolean>} ask
	 */
	async #whileItLasts(ask) {
		const until = performance.now() + this.#ms;
		for (;;) {
			try {
				return await ask();
			} catch (error) {
				const over = performance.now() >= Math.min(until, this.#until);
				if (isRefusal(error) || error instanceof UrlModeClosedError || over) throw error;
				await sleep(jittered(CLAIM_RETRY_MS));
			}
		}
	}

	/** @param {number} asked when the lease was asked for */
	#last(asked) {
		clearTimeout(this.#end);
		this.#until = asked + this.#ms;
		this.#end = setTimeout(() => this.drop(new ClaimLostError(this.#id)), this.#until - performance.now()).unref();
		this.#renewIn(this.#ms / CLAIM_RENEWALS);
	}

	/** @param {number} ms */
	#renewIn(ms) {
		this.#next = setTimeout(() => void this.#renew(), ms).unref();
	}

	async #renew() {
		const asked = performance.now();
		const running = this.#end;
		try {
			const held = await this.#operations.renew();
			if (this.#end !== running) return;
			if (held) this.#last(asked);
			else this.drop(new ClaimLostError(this.#id));
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
		return Buffer.byteLength(json) <= FULFILLED_JSON_MAX ? json : undefined;
	} catch {
		return undefined;
	}
}

// Claims with two ends: the work is done, and the answer was written. A call
// does its work under a lease, which is renewed while it runs. What it has
// returned is sealed with the claim, and the next call is given that, until the
// answer was written. What cannot be kept is not final: the lease is renewed until
// the claim is confirmed or released (../../../sql/functions/004_claim.sql).

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { orAborted } from './abort.js';
import * as sql from './contract-calls.js';
import { CLAIM_CONFIRM_MS, CLAIM_RETRY_MS, RECHECK_LEASE_MS } from './contract-limits.js';
import * as claiming from './contract-claims.js';
import { FULFILLED_INFO } from './contract-seals.js';
import { ClaimLostError, ElicitationNotFoundError, ElicitationOpenError, UrlModeClosedError } from './errors.js';
import { isRefusedChange } from './database.js';
import { jittered } from './jitter.js';
import { accountClaim, begunClaim, checkRefund, Lease } from './lease.js';
import { seal, unseal } from './seal.js';

/**
 * @typedef {import('./database.js').RowKey} RowKey
 * @typedef {import('./types.js').Claim} Claim
 * @typedef {import('./types.js').ClaimEnd} ClaimEnd
 *
 * @typedef {object} BeginOptions
 * @property {string | null} reference of the payment; null: the oldest that matches
 * @property {number} lease milliseconds
 * @property {number} timeout milliseconds to wait while another call holds the lease
 * @property {AbortSignal | undefined} signal ends this wait, and that for a recheck
 * @property {number | undefined} [fence] of the round before of the same call, which has held the claim
 * @property {string | undefined} [claimId] of the caller, who may use it for another call as well
 * @property {number | undefined} [fence] of the round before of this call, which has held the claim
 * @property {boolean} anyPayment whether it may be one that does not match, or is held
 * @property {import('./types.js').RecheckFunction | undefined} [recheck] by default that for the provider
 * @property {number} [recheckAfter] how old its last answer may be, in milliseconds
 *
 * @typedef {object} AtOnceOptions
 * @property {string | null} reference
 * @property {import('./types.js').Action} action of the outcome to claim
 * @property {boolean} held whether to claim it although a part of it may have gone back
 * @property {import('./types.js').RecheckFunction | undefined} recheck
 * @property {number} recheckAfter
 */

export class Claims {
	#query;
	#keys;
	#keep;
	#rechecker;
	#rechecks;
	#listener;
	/** @type {Set<Lease>} */
	#leases = new Set();
	/** @type {Set<Promise<unknown>>} claims that nobody has any more, and that are being given back */
	#returning = new Set();
	/** @type {WeakMap<Claim, () => Promise<boolean>>} how an account is given back whose code was never sent */
	#unsent = new WeakMap();
	/** @type {Map<string, Promise<unknown>>} confirmations that are under way, by the ids of their elicitations */
	#confirming = new Map();

	/**
	 * @param {Pick<import('./database.js').Database, 'query'>} database
	 * @param {import('./keys.js').KeyRing} keys
	 * @param {number} keep milliseconds that a result is kept after the last end of its claim
	 * @param {ReturnType<typeof import('./ask-back.js').rechecker>} rechecker
	 * @param {import('./rechecks.js').Rechecks} rechecks
	 * @param {import('./listener.js').Listener} listener tells of money that goes back while a call works
	 */
	constructor(database, keys, keep, rechecker, rechecks, listener) {
		this.#query = database.query.bind(database);
		this.#keys = keys;
		this.#keep = keep;
		this.#rechecker = rechecker;
		this.#rechecks = rechecks;
		this.#listener = listener;
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {BeginOptions} options
	 * @returns {Promise<Claim>}
	 */
	async begin(rowKey, options) {
		const until = performance.now() + options.timeout;
		// A client that has its answer can call again at once.
		const confirming = this.#confirming.get(rowKey.id);
		if (confirming) await Promise.race([confirming, sleep(CLAIM_CONFIRM_MS, undefined, { ref: false })]);
		const going = options.fence === undefined ? undefined : await this.#continue(rowKey, options.fence, options.lease);
		if (going) return going;
		let age = this.#ageOf(options);
		for (;;) {
			options.signal?.throwIfAborted();
			const claim = await this.#begin(rowKey, options, age);
			if (claim === 'recheck') {
				age = await this.#recheck(rowKey, options, age);
				continue;
			}
			const rest = until - performance.now();
			if (claim.state !== 'leased' || rest <= 0) return claim;
			await sleep(Math.min(rest, jittered(CLAIM_RETRY_MS)), undefined, options.signal && { signal: options.signal })
				.catch(() => {}); // The loop throws the reason of the signal.
		}
	}

	/**
	 * Claims an outcome with both ends at once. Waits while another instance asks the provider.
	 *
	 * @param {RowKey} rowKey
	 * @param {AtOnceOptions} options
	 * @returns {Promise<boolean>} false if another call has claimed it, or if it has another outcome by now
	 */
	async claimAtOnce(rowKey, options) {
		const { reference, action, held } = options;
		for (let age = this.#ageOf(options); ;) {
			const { outcome, leased_ms: leased } = await claiming.claimAtOnce(
				this.#query, { ...rowKey, reference, keepMs: this.#keep, action, held, recheckMs: age });
			if (outcome === 'open') throw new ElicitationOpenError(rowKey.id);
			if (outcome !== 'recheck') return outcome === 'claimed';
			if (Number(leased) > 0) await sleep(Math.min(Number(leased), jittered(CLAIM_RETRY_MS)));
			else age = await this.#recheck(rowKey, options, age);
		}
	}

	/**
	 * @param {{ recheck?: BeginOptions['recheck'], recheckAfter?: number }} options
	 * @returns {number | null} null: nobody can ask
	 */
	#ageOf({ recheck, recheckAfter }) {
		return recheck || this.#rechecks.some ? recheckAfter ?? null : null;
	}

	/**
	 * Asks the provider before the claim begins: what it has may have gone back. If that fails, the claim does not begin.
	 *
	 * @param {RowKey} rowKey
	 * @param {{ recheck?: BeginOptions['recheck'], signal?: AbortSignal | undefined }} options
	 * @param {number | null} age
	 * @returns {Promise<number | null>} that of the next try
	 */
	async #recheck(rowKey, options, age) {
		const recheck = options.recheck ?? await this.#rechecks.ofRow(rowKey);
		if (!recheck) return null;
		const { taken, ...failure } = await this.#rechecker.run({ ...rowKey, status: 'completed' }, recheck, age, options.signal);
		if ('error' in failure) throw failure.error;
		// Otherwise another instance asks.
		return taken ? Math.max(Number(age), RECHECK_LEASE_MS) : age;
	}

	/**
	 * @param {RowKey} rowKey of an account whose claim another call has
	 * @returns {Promise<string | null | undefined>} how the exchange has ended: empty, it is connected; otherwise why not; undefined: it
	 *     has not; null: no call has begun it, or the one that had has given the account back
	 */
	async readExchange(rowKey) {
		const exchange = await sql.readExchange(this.#query, rowKey);
		return exchange === 'exchanging' ? undefined : exchange;
	}

	/** Aborts the signals of all claims that are under way. Their leases end by themselves; an account that is not given back would be lost. */
	async close() {
		for (const lease of this.#leases) lease.drop(new UrlModeClosedError());
		await Promise.all(this.#returning);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {BeginOptions} options
	 * @param {number | null} age how old the last answer of a recheck may be; null: nobody can ask
	 * @returns {Promise<Claim | 'recheck'>} recheck: the provider must be asked first
	 */
	async #begin(rowKey, options, age) {
		const asking = this.#ask(rowKey, options, age);
		try {
			return await orAborted(asking, options.signal);
		} catch (error) {
			// What was not sent is taken back. What was sent is carried out; nobody does the work, so that the next call may begin at once.
			if (options.signal?.aborted) {
				const returned = asking.then((claim) => this.#giveBack(claim)).catch(() => {}).finally(() => this.#returning.delete(returned));
				this.#returning.add(returned);
			}
			throw error;
		}
	}

	/** @param {Claim | 'recheck'} claim that nobody has any more */
	#giveBack(claim) {
		return claim !== 'recheck' && claim.state === 'begun' ? (this.#unsent.get(claim) ?? claim.release)() : undefined;
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {BeginOptions} options
	 * @param {number | null} age
	 * @returns {Promise<Claim | 'recheck'>}
	 */
	async #ask({ id, binding }, { reference: wanted, lease, claimId: given, anyPayment, signal }, age) {
		const asked = performance.now();
		const claimId = given ?? randomUUID();
		const { outcome, claimed_reference: reference, fence, fulfilled, leased_ms: leased } = await claiming.beginLease(
			(text, values, reads) => this.#query(text, values, reads, signal), { id, binding, reference: wanted, leaseMs: lease, keepMs: this.#keep, claimId, anyPayment, recheckMs: age });
		const operations = this.#operationsOf({ id, binding }, fence, lease);
		switch (outcome) {
		case 'unknown': throw new ElicitationNotFoundError(id);
		case 'open': throw new ElicitationOpenError(id);
		case 'recheck':
			if (Number(leased) <= 0) return 'recheck';
			// falls through: somebody else asks, or has failed just now
		case 'leased': return { state: 'leased', until: new Date(Date.now() + Number(leased)) };
		case 'fulfilled': {
			const { result } = unseal(this.#keys, { id, binding, use: FULFILLED_INFO }, fulfilled);
			const end = async (/** @type {ClaimEnd} */ how, /** @type {string | undefined} */ refund) => {
				if (await operations.end(how, checkRefund(how, refund)) === 'lost') throw new ClaimLostError(id);
			};
			return { state: 'fulfilled', reference: reference || undefined, fence: Number(fence), result, confirm: operations.confirm, release: operations.release, end };
		}
		case 'claimed': {
			const claim = accountClaim((reason) => sql.endExchange(this.#query, { id, binding, reason }));
			// Another call of the same claimId may be sending the code.
			this.#unsent.set(claim, async () => given === undefined && sql.releaseUnsent(this.#query, { id, binding, claimId }));
			return claim;
		}
		case 'begun': break;
		default: return { state: outcome };
		}
		return this.#begun({ id, binding }, { reference, fence, lease, asked });
	}

	/**
	 * The next round of a call whose body has asked for something itself.
	 *
	 * @param {RowKey} rowKey
	 * @param {number} fence of the round before
	 * @param {number} lease milliseconds
	 * @returns {Promise<Claim | undefined>} undefined: it is not this call's any more
	 */
	async #continue(rowKey, fence, lease) {
		const asked = performance.now();
		const { outcome, claimed_reference: reference, next_fence: next } = await claiming.continueLease(
			this.#query, { ...rowKey, fence: String(fence), leaseMs: lease });
		return outcome === 'lost' ? undefined : this.#begun(rowKey, { reference: String(reference ?? ''), fence: String(next), lease, asked }, outcome);
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {{ reference: string | null, fence: string, lease: number, asked: number }} begun
	 * @param {Awaited<ReturnType<typeof claiming.renewLease>>} [answer] what it has said of the money
	 * @returns {Claim}
	 */
	#begun({ id, binding }, { reference, fence, lease, asked }, answer = 'renewed') {
		const operations = this.#operationsOf({ id, binding }, fence, lease);
		/** @type {Lease} */
		const held = new Lease(id, lease, asked, { ...operations, ended: () => this.#ended(held) });
		held.report(answer);
		if (this.#leases.size === 0) {
			this.#listener.on('notified', this.#onNotified);
			this.#listener.acquire(this, false);
		}
		this.#leases.add(held);
		return begunClaim(held, { reference: reference || undefined, fence: Number(fence) });
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {string} fence
	 * @param {number} lease milliseconds
	 * @returns {Omit<import('./lease.js').LeaseOperations, 'ended'>}
	 */
	#operationsOf({ id, binding }, fence, lease) {
		const key = { id, binding, fence, keepMs: this.#keep };
		return {
			renew: () => claiming.renewLease(this.#query, { ...key, leaseMs: lease }),
			fulfil: (json) => {
				const fulfilled = seal(this.#keys, { id, binding, use: FULFILLED_INFO }, json);
				return claiming.fulfilLease(this.#query, { ...key, fulfilled, claimEnd: null, refund: null });
			},
			end: (claimEnd, refund) => claiming.fulfilLease(this.#query, { ...key, fulfilled: null, claimEnd, refund }),
			confirm: () => this.#confirm(key),
			release: () => claiming.releaseClaim(this.#query, key),
			hold: (ms) => claiming.renewLease(this.#query, { ...key, leaseMs: ms }),
			isRefusedChange,
		};
	}

	/** @param {Lease} lease */
	#ended(lease) {
		if (!this.#leases.delete(lease) || this.#leases.size > 0) return;
		this.#listener.off('notified', this.#onNotified);
		this.#listener.release(this);
	}

	/**
	 * The next renewal says whether all of it went back. Anyone in the database can send such a text.
	 *
	 * @param {import('./notification.js').Notification[]} notifications
	 */
	#onNotified = (notifications) => {
		const back = new Set(notifications.filter(({ refunded }) => refunded === true).map(({ id }) => id));
		for (const lease of this.#leases) if (back.has(lease.id)) lease.renewSoon();
	};

	/** @param {Parameters<typeof claiming.confirmClaim>[1]} key */
	#confirm(key) {
		const confirming = claiming.confirmClaim(this.#query, key);
		const ended = confirming.catch(() => {}).then(() => {
			if (this.#confirming.get(key.id) === ended) this.#confirming.delete(key.id);
		});
		this.#confirming.set(key.id, ended);
		return confirming;
	}
}

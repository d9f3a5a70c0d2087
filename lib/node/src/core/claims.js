// Claims with two ends: the work is done, and the answer was written. A call
// does its work under a lease, which is renewed while it runs. What it has
// returned is sealed with the claim, and the next call is given that, until the
// answer was written. What cannot be kept is not final: the lease is renewed until
// the claim is confirmed or released (../../../sql/functions/004_claim.sql).

import { setTimeout as sleep } from 'node:timers/promises';

import * as sql from './contract-calls.js';
import { CLAIM_CONFIRM_MS, CLAIM_RENEWALS, CLAIM_RETRY_MS, RECHECK_LEASE_MS } from './contract-limits.js';
import * as money from './contract-money.js';
import { FULFILLED_INFO } from './contract-seals.js';
import { ClaimLostError, ClaimRefundedError, ElicitationNotFoundError, ElicitationOpenError, UrlModeClosedError } from './errors.js';
import { checkReference } from './arguments.js';
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
 * @property {string | null} claimId of the caller
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
			const { outcome, leased_ms: leased } = await money.claimAtOnce(
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
	 * @param {{ recheck?: BeginOptions['recheck'] }} options
	 * @param {number | null} age
	 * @returns {Promise<number | null>} that of the next try
	 */
	async #recheck(rowKey, options, age) {
		const recheck = options.recheck ?? await this.#rechecks.ofRow(rowKey);
		if (!recheck) return null;
		const { taken, ...failure } = await this.#rechecker.run({ ...rowKey, status: 'completed' }, recheck, age);
		if ('error' in failure) throw failure.error;
		// Otherwise another instance asks.
		return taken ? Math.max(Number(age), RECHECK_LEASE_MS) : age;
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
	 * @param {number | null} age how old the last answer of a recheck may be; null: nobody can ask
	 * @returns {Promise<Claim | 'recheck'>} recheck: the provider must be asked first
	 */
	async #begin({ id, binding }, { reference: wanted, lease, claimId, anyPayment }, age) {
		const asked = performance.now();
		const { outcome, claimed_reference: reference, fence, fulfilled, leased_ms: leased } = await money.beginLease(
			this.#query, { id, binding, reference: wanted, leaseMs: lease, keepMs: this.#keep, claimId, anyPayment, recheckMs: age });
		const operations = this.#operationsOf({ id, binding }, fence, lease);
		const common = { reference: reference || undefined, fence: Number(fence) };
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
			return { state: 'fulfilled', ...common, result, confirm: operations.confirm, release: operations.release, end };
		}
		case 'claimed': return accountClaim((reason) => sql.endExchange(this.#query, { id, binding, reason }));
		case 'begun': break;
		default: return { state: outcome };
		}
		const held = new Lease(id, lease, asked, { ...operations, ended: () => this.#ended(held) });
		if (this.#leases.size === 0) {
			this.#listener.on('notified', this.#onNotified);
			this.#listener.acquire(this, false);
		}
		this.#leases.add(held);
		return {
			state: 'begun', ...common, signal: held.signal,
			fulfil: (result) => held.fulfil(result), confirm: () => held.confirm(), release: () => held.release(),
			end: async (how, refund) => held.end(how, checkRefund(how, refund)),
		};
	}

	/**
	 * @param {RowKey} rowKey
	 * @param {string} fence
	 * @param {number} lease milliseconds
	 * @returns {Omit<LeaseOperations, 'ended'>}
	 */
	#operationsOf({ id, binding }, fence, lease) {
		const key = { id, binding, fence, keepMs: this.#keep };
		return {
			renew: () => money.renewLease(this.#query, { ...key, leaseMs: lease }),
			fulfil: (json) => {
				const fulfilled = seal(this.#keys, { id, binding, use: FULFILLED_INFO }, json);
				return money.fulfilLease(this.#query, { ...key, fulfilled, claimEnd: null, refund: null });
			},
			end: (claimEnd, refund) => money.fulfilLease(this.#query, { ...key, fulfilled: null, claimEnd, refund }),
			confirm: () => this.#confirm(key),
			release: () => money.releaseClaim(this.#query, key),
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

	/** @param {Parameters<typeof money.confirmClaim>[1]} key */
	#confirm(key) {
		const confirming = money.confirmClaim(this.#query, key);
		const ended = confirming.catch(() => {}).then(() => {
			if (this.#confirming.get(key.id) === ended) this.#confirming.delete(key.id);
		});
		this.#confirming.set(key.id, ended);
		return confirming;
	}
}

/**
 * @param {ClaimEnd} how
 * @param {string | undefined} refund
 */
function checkRefund(how, refund) {
	if (how !== 'delivered' && how !== 'refunded') throw new TypeError("a claim ends as 'delivered' or 'refunded'");
	if (refund !== undefined && how !== 'refunded') throw new TypeError('only a claim that ends as refunded has the reference of a refund');
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
function accountClaim(end) {
	return {
		state: 'begun', reference: undefined, fence: undefined, signal: new AbortController().signal,
		fulfil: async () => {
			await end('').catch(() => {}); // The account is connected, and its page stays neutral.
			return false;
		},
		confirm: async () => false,
		release: (why = EXCHANGE_FAILED) => end(why),
		end: async () => {
			throw new TypeError('an account is connected: it is neither delivered nor refunded');
		},
	};
}

/**
 * @typedef {import('./types.js').ClaimEnd} ClaimEnd
 * @typedef {Awaited<ReturnType<typeof money.renewLease>>} Renewed
 * @typedef {Awaited<ReturnType<typeof money.fulfilLease>>} Fulfilled
 *
 * @typedef {object} LeaseOperations each lost, or false, if another call has begun since
 * @property {() => Promise<Renewed>} renew
 * @property {(json: string) => Promise<Fulfilled>} fulfil
 * @property {(how: ClaimEnd, refund: string | null) => Promise<Fulfilled>} end
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
	/** Whether the work is done, also if PostgreSQL could not be told: then it is not given back. */
	#isDone = false;
	/** When it was last asked for, by performance.now(). */
	#asked;
	/** Whether it is to be renewed at once when the renewal that is under way has ended; undefined: none is. */
	#again = /** @type {boolean | undefined} */ (undefined);
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
		this.#asked = asked;
		this.#last(asked);
	}

	get id() {
		return this.#id;
	}

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

	/** @param {Error} reason */
	drop(reason) {
		this.#stop();
		this.#abort.abort(reason);
	}

	/** @param {() => Promise<Fulfilled>} ask */
	async #lastStep(ask) {
		const answer = await this.#whileItLasts(ask).finally(() => this.#stop());
		if (answer === 'lost') throw new ClaimLostError(this.#id);
		this.#tell(answer);
	}

	/**
	 * All that was paid went back. The work may go on.
	 *
	 * @param {Renewed | Fulfilled} answer
	 */
	#tell(answer) {
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
		clearTimeout(this.#next);
		this.#next = setTimeout(() => void this.#renew(), ms).unref();
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
			this.#tell(answer);
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
		return Buffer.byteLength(json) <= FULFILLED_JSON_MAX ? json : undefined;
	} catch {
		return undefined;
	}
}

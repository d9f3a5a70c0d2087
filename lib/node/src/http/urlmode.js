// The SDK over HTTP: the methods of UrlMode by the program `api`, on fetch and Web Crypto alone. It has neither
// the keys file nor a connection to PostgreSQL, so it runs wherever fetch does.

import {
	checkAction, checkAnswer, checkChoice, checkClients, checkConsumer, checkFlag, checkFunction, checkId, checkMilliseconds, checkOwner, checkPaid,
	checkProvider, checkReason, checkRecheck, checkRechecks, checkReference, checkSignal, checkSince, checkText, checkTimeout,
} from '../core/arguments.js';
import { CLAIM_LEASE_MAX_MS, CLAIM_LEASE_MIN_MS, CLAIM_LEASE_MS, NAME_MAX, TIMEOUT_MS } from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import { END_ACTIONS } from '../core/contract-words.js';
import { checkEntitlementOptions } from '../core/entitlements.js';
import {
	ElicitationMismatchError, ElicitationNotFoundError, ElicitationOpenError, ElicitationReferenceError, UrlModeClosedError,
} from '../core/errors.js';
import { setInternals } from '../core/internals.js';
import { Api, UrlModeApiError } from './api.js';
import { Asks } from './asks.js';
import { Claims } from './claims.js';
import { create } from './create.js';
import { Events } from './events.js';
import { Handles } from './handles.js';
import { followLedger } from './ledger.js';
import { listAll, toEntitlement, toRefund, toUnclaimedPayment } from './lists.js';
import { Questions } from './questions.js';
import { Waits } from './waits.js';

/**
 * @typedef {import('../core/types.js').Owner} Owner
 * @typedef {import('../core/types.js').UrlModeEvents} UrlModeEvents
 * @typedef {import('./api.js').Members} Members
 *
 * @typedef {object} HttpOptions
 * @property {string | URL} url where the api listens, such as `http://127.0.0.1:8081`
 * @property {string} key `umk_…`, as `urlmode api-key add` has printed it
 * @property {string | undefined} [name] the name of this server on the confirm page, at most 200 bytes; that of the api's configuration by default
 * @property {import('../core/types.js').UrlModeOptions['rechecks']} [rechecks] for each provider a function that asks it for what a webhook did not prove
 * @property {readonly import('../core/types.js').ClientFacts[] | undefined} [clients] facts about MCP clients, for the adapters
 * @property {typeof globalThis.fetch | undefined} [fetch] in place of that of the runtime
 */

export class UrlMode {
	#api;
	#name;
	#waits;
	#questions;
	#claims;
	#events;
	#rechecks;
	/** @type {Set<() => Promise<void>>} */
	#closers = new Set();
	/** @type {Set<() => Promise<void>>} */
	#finishers = new Set();
	#closing = new AbortController();
	/** @type {Promise<void> | undefined} */
	#closed;

	/**
	 * Does not call yet.
	 *
	 * @param {HttpOptions} options
	 */
	constructor({ url, key, name, rechecks = {}, clients = [], fetch = (...request) => globalThis.fetch(...request) }) {
		this.#name = name === undefined ? undefined : checkText('name', name, 1, NAME_MAX);
		this.#rechecks = checkRechecks(rechecks);
		this.#api = new Api({ url: checkUrl(url), key: checkKey(key), fetch });
		this.#questions = new Questions(this.#api, (id, owner, answer) => this.#complete({ id, ...owner }, answer));
		this.#waits = new Waits(this.#api, this.#questions);
		this.#claims = new Claims(this.#api, (...asked) => this.#questions.askAbout(...asked), this.#rechecks);
		this.#events = new Events({
			late: async (since) => (await this.unclaimed({ since })).filter(({ late }) => late).map((payment) => ({
				name: `${payment.provider} ${payment.reference}`, state: `${payment.amount}`, event: payment,
			})),
			refunded: async (since) => (await this.refunds({ since })).map((refund) => ({
				name: `${refund.provider} ${refund.reference} ${refund.elicitationId}`, state: `${refund.amount} ${refund.reversed} ${refund.payment?.reference}`,
				event: refund,
			})),
		});
		setInternals(this, {
			handles: new Handles(key), asks: new Asks(this.#api), recheckOf: (provider) => this.#rechecks.get(provider), name: this.#name,
			clients: checkClients(clients), closers: this.#closers, finishers: this.#finishers, isClosed: () => this.#closed !== undefined,
		});
	}

	/**
	 * As the method of the class of `urlmode`. A function for `targetUrl` is called between two calls of the api.
	 *
	 * @overload
	 * @param {import('../core/types.js').InputOptions | import('../core/types.js').ApprovalOptions} options
	 * @returns {Promise<import('../core/types.js').FormElicitation>}
	 *
	 * @overload
	 * @param {import('../core/types.js').OthersApprovalOptions} options
	 * @returns {Promise<import('../core/types.js').OthersApproval>}
	 *
	 * @overload
	 * @param {import('../core/types.js').CreateOptions} options
	 * @returns {Promise<import('../core/types.js').Elicitation>}
	 *
	 * @param {import('../core/types.js').AnyCreateOptions} options
	 * @returns {Promise<import('../core/types.js').AnyElicitation>}
	 */
	async create(options) {
		this.#checkOpen();
		const elicitation = await create(this.#api, this.#name, options);
		const { elicitationId, expiresAt } = elicitation;
		const { provider, kind } = options;
		if (!elicitation.resumed) this.#events.status('created', /** @type {never} */ ({ elicitationId, provider, kind, ...checkOwner(options), expiresAt }));
		return elicitation;
	}

	/**
	 * As the method of the class of `urlmode`. All waits of a process share their calls of the api.
	 *
	 * @param {string} id of the elicitation
	 * @param {import('../core/types.js').WaitOptions} options
	 * @returns {Promise<import('../core/types.js').Outcome>}
	 */
	async waitForCompletion(id, options) {
		this.#checkOpen();
		const elicitationId = checkId(id);
		const owner = checkOwner(options);
		const { signal, onProgress, recheck, verify } = options;
		const timeout = checkTimeout(options.timeout ?? TIMEOUT_MS);
		checkSignal(signal);
		for (const [option, value] of Object.entries({ onProgress, recheck, verify })) checkFunction(option, value);
		const abandon = checkFlag('abandon', options.abandon, false)
			? (/** @type {string} */ reason) => this.#abandon({ id: elicitationId, ...owner }, 'cancel', reason) : undefined;
		if (signal?.aborted) {
			await abandon?.('aborted').catch(() => {});
			throw signal.reason;
		}
		return this.#waits.wait(elicitationId, owner, {
			timeout, signal, onProgress, recheckOf: (provider) => recheck ?? this.#rechecks.get(provider), verify, abandon,
			onRow: this.#events.ofWait((/** @type {Members} */ row) => this.#report(elicitationId, owner, row)),
		});
	}

	/**
	 * @param {string} id of the elicitation
	 * @param {Owner & import('../core/types.js').Answer} options whose it is, and the outcome
	 * @returns {Promise<boolean>}
	 */
	async complete(id, options) {
		this.#checkOpen();
		return await this.#complete({ id: checkId(id), ...checkOwner(options) }, options) !== 'already';
	}

	/**
	 * @param {string} id of the elicitation
	 * @param {Owner & { reason?: string }} options whose it is, and why: a code, `cancelled` by default
	 * @returns {Promise<boolean>}
	 */
	async cancel(id, options) {
		const { subject, session, reason = 'cancelled' } = options;
		return this.complete(id, { subject, session, action: 'cancel', reason });
	}

	/**
	 * @param {string} id of the elicitation
	 * @param {Owner & { action?: import('../core/contract-words.js').EndAction, reason?: string }} options whose it is; by default action cancel and reason `abandoned`
	 * @returns {Promise<boolean>} whether this call completed it
	 */
	async abandon(id, options) {
		this.#checkOpen();
		const action = checkChoice('action', options.action ?? 'cancel', END_ACTIONS);
		const reason = checkReason(options.reason ?? 'abandoned');
		return await this.#abandon({ id: checkId(id), ...checkOwner(options) }, action, reason) === 'completed';
	}

	/**
	 * @param {string} id of the elicitation
	 * @param {import('../core/types.js').ClaimOptions} options
	 * @returns {Promise<boolean>} false if another call has claimed it, or if it has another outcome by now
	 */
	async claim(id, options) {
		this.#checkOpen();
		const owned = { id: checkId(id), ...checkOwner(options) };
		const action = checkAction(options.action ?? 'accept');
		const reference = options.reference === undefined ? undefined : checkReference(options.reference);
		const held = checkFlag('held', options.held, false);
		const asking = checkRecheck(options);
		try {
			return await this.#claims.claimAtOnce(owned, { action, reference, held, ...asking });
		} catch (error) {
			throw toError(error, owned.id);
		}
	}

	/**
	 * @param {string} id of the elicitation
	 * @param {import('../core/types.js').BeginClaimOptions} options
	 * @returns {Promise<import('../core/types.js').Claim>}
	 */
	async beginClaim(id, options) {
		this.#checkOpen();
		const { signal } = options;
		checkSignal(signal);
		return this.#claims.begin({ id: checkId(id), ...checkOwner(options) }, {
			reference: options.reference === undefined ? undefined : checkReference(options.reference),
			lease: checkMilliseconds('lease', options.lease ?? CLAIM_LEASE_MS, CLAIM_LEASE_MIN_MS, CLAIM_LEASE_MAX_MS),
			timeout: checkTimeout(options.timeout ?? 0), signal, anyPayment: checkFlag('anyPayment', options.anyPayment, false),
			claimId: options.claimId === undefined ? crypto.randomUUID() : checkId(options.claimId, 'claimId'), fence: options.fence,
			...checkRecheck(options),
		});
	}

	/**
	 * @param {{ provider?: string, since?: Date }} [options] of this provider alone; only what was proved then or later
	 * @returns {Promise<import('../core/money-types.js').UnclaimedPayment[]>} without results
	 */
	async unclaimed({ provider, since } = {}) {
		this.#checkOpen();
		return (await listAll(this.#api, 'unclaimed', filterOf(provider, since))).map(toUnclaimedPayment);
	}

	/**
	 * @param {{ provider?: string, since?: Date }} [options] of this provider alone; only what was proved then or later
	 * @returns {Promise<import('../core/money-types.js').Refund[]>}
	 */
	async refunds({ provider, since } = {}) {
		this.#checkOpen();
		return (await listAll(this.#api, 'refunds', filterOf(provider, since))).map(toRefund);
	}

	/**
	 * Follows everything about money, as the method of the class of `urlmode`.
	 *
	 * @param {import('../core/money-types.js').LedgerOptions} options
	 * @returns {AsyncGenerator<import('../core/money-types.js').LedgerEntry, void, void>}
	 */
	async *ledger({ consumer, signal }) {
		this.#checkOpen();
		checkSignal(signal);
		const name = checkConsumer(consumer);
		signal?.throwIfAborted();
		const ending = new AbortController();
		const end = () => ending.abort();
		for (const each of [this.#closing.signal, signal]) each?.addEventListener('abort', end);
		try {
			yield* followLedger(this.#api, name, ending.signal);
			signal?.throwIfAborted();
		} finally {
			for (const each of [this.#closing.signal, signal]) each?.removeEventListener('abort', end);
		}
	}

	/**
	 * @param {import('../core/money-types.js').PaidOptions} options
	 * @returns {Promise<boolean>}
	 */
	async paid(options) {
		this.#checkOpen();
		const { subject, item, since, delivered } = checkPaid(options);
		const answer = await this.#api.call('paid', { subject, item, since: since ?? undefined, limit: 1, ...delivered && { delivered } });
		return answer.paid;
	}

	/**
	 * @param {{ subject: string, item?: string | undefined }} options the user; of this item alone
	 * @returns {Promise<import('../core/money-types.js').Entitlement[]>}
	 */
	async entitlements(options) {
		this.#checkOpen();
		const { subject, item } = checkEntitlementOptions(options);
		return (await listAll(this.#api, 'entitlements', { subject, item: item ?? undefined })).map(toEntitlement);
	}

	/**
	 * Calls the listener of each event. `late` and `refunded` are found by asking for them every two seconds.
	 *
	 * @template {keyof UrlModeEvents} K
	 * @param {K} name of the event
	 * @param {(...event: UrlModeEvents[K]) => void} listener called with each
	 */
	on(name, listener) {
		this.#checkOpen();
		this.#events.on(name, /** @type {(event: never) => void} */ (listener));
		return this;
	}

	/**
	 * @template {keyof UrlModeEvents} K
	 * @param {K} name of the event
	 * @param {(...event: UrlModeEvents[K]) => void} listener called with each
	 */
	off(name, listener) {
		this.#events.off(name, /** @type {(event: never) => void} */ (listener));
		return this;
	}

	/** How many waits are open in this process. */
	get openWaits() {
		return this.#waits.size;
	}

	/**
	 * Rejects open waits with UrlModeClosedError, and waits for calls that are under way, for two seconds at most.
	 *
	 * @returns {Promise<void>}
	 */
	close() {
		this.#closed ??= this.#close();
		return this.#closed;
	}

	async #close() {
		this.#events.close();
		this.#claims.close();
		this.#closing.abort();
		await Promise.all([this.#waits.close(new UrlModeClosedError()), ...[...this.#closers].map((close) => close())]);
		await Promise.all([...this.#finishers].map((finish) => finish()));
		await this.#api.close();
	}

	#checkOpen() {
		if (this.#closed) throw new UrlModeClosedError();
	}

	/**
	 * @param {import('./claims.js').Owned} owned
	 * @param {import('../core/types.js').Answer} answer
	 * @returns {Promise<'completed' | 'late' | 'already'>}
	 */
	async #complete(owned, answer) {
		const { json, action, reason, amount, currency, reference } = checkAnswer(answer);
		try {
			const { outcome } = await this.#api.call('complete', {
				...owned, action, reason, amount: amount ?? undefined, currency: currency ?? undefined, reference: reference ?? undefined,
			}, { repeatable: false, ...json !== null && { suffix: `"result":${json}` } });
			return outcome;
		} catch (error) {
			throw toError(error, owned.id);
		}
	}

	/**
	 * @param {import('./claims.js').Owned} owned
	 * @param {import('../core/contract-words.js').EndAction} action
	 * @param {string} reason
	 */
	async #abandon(owned, action, reason) {
		try {
			const { outcome } = await this.#api.call('abandon', { ...owned, action, reason }, { repeatable: false });
			return outcome;
		} catch (error) {
			throw toError(error, owned.id);
		}
	}

	/**
	 * @param {string} elicitationId
	 * @param {{ subject: string, session: string }} owner
	 * @param {Members} row
	 */
	#report(elicitationId, owner, { provider, status, action, reason, late }) {
		if (status === 'pending') return;
		this.#events.status(status, /** @type {never} */ ({ elicitationId, provider, ...owner, status, ...status === 'completed' && { action, reason, ...late && { late } } }));
	}
}

/**
 * @param {unknown} error
 * @param {string} id
 */
function toError(error, id) {
	if (!(error instanceof UrlModeApiError)) return error;
	switch (error.reason) {
	case 'not_found': return new ElicitationNotFoundError(id);
	case 'open': return new ElicitationOpenError(id);
	case 'mismatch': return new ElicitationMismatchError(id);
	case 'reference_taken': return new ElicitationReferenceError(id);
	case 'undecided': return new TypeError(TEXTS.undecided);
	default: return error;
	}
}

/** @param {unknown} value */
function checkUrl(value) {
	const text = String(value);
	if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new TypeError('url must be the http or https URL of the api');
	return text.replace(/\/+$/, '');
}

/** @param {unknown} value */
function checkKey(value) {
	if (typeof value !== 'string' || !/^umk_[\w-]{43}$/.test(value)) throw new TypeError('key must be a key of the api: umk_ and 43 characters');
	return value;
}

/**
 * @param {string | undefined} provider
 * @param {Date | undefined} since
 */
function filterOf(provider, since) {
	return { provider: provider === undefined ? undefined : checkProvider(provider), since: checkSince(since) ?? undefined };
}

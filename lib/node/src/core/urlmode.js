// The SDK: creates elicitations, and waits until the callback programs
// have completed them.


import { rechecker } from './ask-back.js';
import { Asks } from './asks.js';
import { Claims } from './claims.js';
import {
	CLAIM_LEASE_MAX_MS, CLAIM_LEASE_MIN_MS, CLAIM_LEASE_MS, CLOSE_MS, NAME_MAX, SUBJECT_MAX, TICKET_MAX_MS, TICKET_MS, TIMEOUT_MS,
} from './contract-limits.js';
import { PROBLEM_INFO, RESULT_INFO } from './contract-seals.js';
import { END_ACTIONS } from './contract-words.js';
import { Creator } from './create.js';
import { Database, readRows } from './database.js';
import { checkDatabaseUrl, checkPool } from './database-url.js';
import { UrlModeClosedError } from './errors.js';
import { toRows } from './entries.js';
import { Events } from './events.js';
import { checkProblem } from './form.js';
import { checkKept, Purger } from './purge.js';
import {
	checkAction, checkAnswer, checkChoice, checkClients, checkDescriptions, checkFlag, checkFunction, checkId, checkMilliseconds, checkOwner,
	checkReason, checkRecheck, checkRechecks, checkReference, checkSignal, checkTenant, checkText, checkTimeout,
} from './arguments.js';
import { Handles } from './handles.js';
import { openKeys } from './keys.js';
import { Ledger } from './ledger.js';
import { LISTENER, Listener } from './listener.js';
import { setInternals } from './internals.js';
import { Metrics } from './metrics.js';
import { MoneyMethods } from './money.js';
import { openValues, openVerifier, sealPayment, toOutcome } from './outcome.js';
import { openOutcome, seal } from './seal.js';
import { ticketCookie } from './ticket.js';
import { bindingOf } from './token.js';
import { Rechecks } from './rechecks.js';
import { Tasks } from './tasks.js';
import { checkBaseUrl } from './url.js';
import { Waits } from './waits.js';
import { UrlBuilder } from './callback-urls.js';

/**
 * @typedef {import('./types.js').Action} Action
 * @typedef {import('./types.js').Answer} Answer
 * @typedef {import('./types.js').CreateOptions} CreateOptions
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Outcome} Outcome
 * @typedef {import('./types.js').Owner} Owner
 * @typedef {import('./types.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./types.js').WaitOptions} WaitOptions
 */

export class UrlMode extends MoneyMethods {
	#kept;
	#keys;
	#tenant;
	#database;
	#listener;
	#waits;
	#metrics;
	#purger;
	#events;
	#claims;
	#rechecks;
	#ledger;
	#creator;
	/** @type {Set<() => Promise<void>>} */
	#closers = new Set();
	/** @type {Set<() => Promise<void>>} */
	#finishers = new Set();
	/** @type {Promise<void> | undefined} */
	#closed;

	/**
	 * Does not connect yet.
	 *
	 * @param {UrlModeOptions} options
	 * @throws {import('./errors.js').KeysFileError}
	 */
	constructor({ databaseUrl, pool, keysFile, keys, baseUrl, name, tenant: given, listen, keepResults, keepUnclaimed, retention, rechecks = {}, clients = [], descriptions = {} }) {
		super();
		const base = checkBaseUrl(baseUrl);
		const serverName = checkText('name', name ?? base.host, 1, NAME_MAX);
		const tenant = checkTenant(given);
		this.#tenant = tenant;
		const config = pool === undefined ? checkDatabaseUrl(databaseUrl) : checkPool(pool, databaseUrl);
		this.#keys = openKeys(keysFile, keys);
		const urls = new UrlBuilder(this.#keys, base.origin);
		this.#database = new Database(config, pool, tenant);
		const OwnListener = /** @type {{ [LISTENER]?: typeof Listener }} */ (config)[LISTENER] ?? Listener;
		this.#listener = new OwnListener(config, {
			listen: checkFlag('listen', listen, true),
			notify: (channel, payload) => this.#database.notify(channel, payload),
		});
		this.#metrics = new Metrics(this.#listener);
		this.#kept = checkKept({ keepResults, keepUnclaimed, retention });
		this.#purger = new Purger(this.#database, this.#kept);
		/** @type {import('./ask-back.js').RecheckOperations} */
		const recheckOperations = {
			beginRecheck: (rowKey, lease, age) => this.#database.beginRecheck(rowKey, lease, age),
			answerRecheck: (rowKey, taken, entries) => this.#database.answerRecheck(rowKey, taken, toRows(entries, (payment) => ({
				result: sealPayment(this.#keys, rowKey, payment).toString('base64'),
			}))),
			endRecheck: (rowKey, taken, failed) => this.#database.endRecheck(rowKey, taken, failed),
			complete: (rowKey, answer) => this.#complete(rowKey, answer),
		};
		const asking = rechecker(recheckOperations);
		this.#rechecks = new Rechecks(checkRechecks(rechecks), (...statement) => this.#database.query(...statement), asking, tenant);
		this.#claims = new Claims(this.#database, this.#keys, this.#kept.results, asking, this.#rechecks, this.#listener);
		this.#ledger = new Ledger(this.#database, this.#listener, tenant);
		this.#events = new Events(this, {
			keys: this.#keys, tenant, database: this.#database, listener: this.#listener, read: (rowKey) => this.#read(rowKey),
		});
		this.#creator = new Creator({
			keys: this.#keys, database: this.#database, urls, events: this.#events, name: serverName, descriptions: checkDescriptions(descriptions), tenant,
		});
		this.#waits = new Waits(this.#listener, {
			toOutcome: (row, binding, known) => toOutcome(this.#keys, row, binding, known),
			openVerifier: (row, binding) => openVerifier(this.#keys, row, binding),
			openOutcome: (entry, sealed) => openOutcome(this.#keys, entry.rowBytes, sealed),
			markRead: (rowKey) => this.#purger.markRead(rowKey),
			expire: (rowKeys) => this.#database.expire(rowKeys),
			read: (rowKey) => this.#read(rowKey),
			...recheckOperations,
			takeCheck: (rowKey) => this.#database.takeCheck(rowKey),
			endCheck: (rowKey, lease, problem, failed) => this.#database.endCheck(rowKey, lease, problem, failed),
			openValues: (rowKey, result) => openValues(this.#keys, rowKey, result),
			checkProblem,
			sealProblem: (rowKey, problem) => seal(this.#keys, { ...rowKey, use: PROBLEM_INFO }, JSON.stringify(problem)),
		});
		setInternals(this, {
			baseUrl: base.origin, tenant, keys: this.#keys, database: this.#database, listener: this.#listener, claims: this.#claims, ledger: this.#ledger, rechecks: this.#rechecks,
			closers: this.#closers, finishers: this.#finishers, isClosed: () => this.#closed !== undefined,
			handles: new Handles(this.#keys, urls, tenant), asks: new Asks(this.#database, tenant), tasks: new Tasks(this.#database, this.#keys, tenant, this.#kept.results),
			recheckOf: (provider) => this.#rechecks.of(provider),
			urls, name: serverName, clients: checkClients(clients),
		});
	}

	/**
	 * Writes the row. After that, the client can be sent to its `url`.
	 *
	 * @overload
	 * @param {import('./types.js').InputOptions | import('./types.js').ApprovalOptions} options
	 * @returns {Promise<import('./types.js').FormElicitation>}
	 *
	 * @overload
	 * @param {import('./types.js').OthersApprovalOptions} options
	 * @returns {Promise<import('./types.js').OthersApproval>}
	 *
	 * @overload
	 * @param {CreateOptions} options
	 * @returns {Promise<Elicitation>}
	 *
	 * @param {import('./types.js').AnyCreateOptions} options
	 * @returns {Promise<import('./types.js').AnyElicitation>}
	 * @throws {import('./errors.js').ElicitationExistsError}
	 * @throws {import('./errors.js').ElicitationLimitError}
	 * @throws {import('./errors.js').ElicitationSubscribedError} if it is for a second subscription
	 */
	async create(options) {
		this.#checkOpen();
		this.#purger.start();
		return this.#creator.create(options);
	}

	/**
	 * Waits until the elicitation is completed, by any process and on
	 * any instance. Resolves at once if it is completed already.
	 *
	 * @param {string} id of the elicitation
	 * @param {WaitOptions} options
	 * @returns {Promise<Outcome>}
	 * @throws {import('./errors.js').ElicitationTimeoutError}
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 * @throws {import('./errors.js').ElicitationSealError}
	 */
	async waitForCompletion(id, options) {
		const { rowKey, owner } = this.#rowOf(id, options);
		this.#purger.start();
		const { signal, onProgress, recheck, verify } = options;
		const timeout = checkTimeout(options.timeout ?? TIMEOUT_MS);
		checkSignal(signal);
		for (const [option, value] of Object.entries({ onProgress, recheck, verify })) checkFunction(option, value);
		const abandon = checkFlag('abandon', options.abandon, false)
			? (/** @type {string} */ reason) => this.#abandon(rowKey, owner, 'cancel', reason) : undefined;
		if (signal?.aborted) {
			await abandon?.('aborted').catch(() => {});
			throw signal.reason;
		}
		return this.#metrics.follow(this.#waits.wait(rowKey.id, rowKey.binding, {
			timeout, signal, onProgress, recheckOf: (provider) => recheck ?? this.#rechecks.of(provider), verify, abandon, onRow: this.#events.ofWait(owner),
		}), timeout, signal);
	}

	/**
	 * Completes an elicitation from outside a wait, for a server that learned
	 * the outcome in another way.
	 *
	 * @param {string} id of the elicitation
	 * @param {Owner & Answer} options whose it is, and the outcome
	 * @returns {Promise<boolean>} whether this call completed it, or recorded the payment of an elicitation that had
	 *     ended otherwise, which is then offered to the next call. If it was completed before, it stays as it was
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 * @throws {import('./errors.js').ElicitationMismatchError}
	 * @throws {import('./errors.js').ElicitationReferenceError}
	 */
	async complete(id, options) {
		const { rowKey, owner } = this.#rowOf(id, options);
		const outcome = await this.#complete(rowKey, options);
		if (outcome === 'completed') void this.#events.completion(rowKey.id, owner);
		return outcome !== 'already';
	}

	/**
	 * Calls `complete` with action cancel. It also ends an elicitation that a
	 * user has opened; the event and the outcome have the status that it interrupted.
	 *
	 * @param {string} id of the elicitation
	 * @param {Owner & { reason?: string }} options whose it is, and why: a code, `cancelled` by default
	 * @returns {Promise<boolean>}
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 */
	async cancel(id, options) {
		const { subject, session, reason = 'cancelled' } = options;
		return this.complete(id, { subject, session, action: 'cancel', reason });
	}

	/**
	 * Completes an elicitation that nobody waits for any more, unless a user has
	 * opened it. No later `create` with its `resumeKey` resumes it.
	 *
	 * @param {string} id of the elicitation
	 * @param {Owner & { action?: import('./contract-words.js').EndAction, reason?: string }} options whose it is; by default action cancel and reason `abandoned`
	 * @returns {Promise<boolean>} whether this call completed it
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 */
	async abandon(id, options) {
		const { rowKey, owner } = this.#rowOf(id, options);
		const action = checkChoice('action', options.action ?? 'cancel', END_ACTIONS);
		const reason = checkReason(options.reason ?? 'abandoned');
		const outcome = await this.#abandon(rowKey, owner, action, reason);
		return outcome === 'completed';
	}

	/**
	 * Claims the outcome of a completed elicitation. Only the first call
	 * succeeds, so that what was paid for is not delivered twice. Where several
	 * payments were proved, each is claimed by one call.
	 *
	 * @param {string} id of the elicitation
	 * @param {import('./types.js').ClaimOptions} options
	 * @returns {Promise<boolean>} false if another call has claimed it or holds its lease, if a payment was proved after a
	 *     refusal, or if the payment went back or is held
	 * @throws {import('./errors.js').ElicitationOpenError} if it is not completed, or not any more after a failover
	 */
	async claim(id, options) {
		const { rowKey } = this.#rowOf(id, options);
		const action = checkAction(options.action ?? 'accept');
		const reference = options.reference === undefined ? null : checkReference(options.reference);
		return this.#claims.claimAtOnce(rowKey, {
			action, reference, held: checkFlag('held', options.held, false), ...checkRecheck(options),
		});
	}

	/**
	 * Claims an accept under a lease, for a call whose answer may be lost: the
	 * work is done once, and its result is given to the next call until
	 * an answer was written. The claim of an account has its only end here.
	 *
	 * @param {string} id of the elicitation
	 * @param {import('./types.js').BeginClaimOptions} options
	 * @returns {Promise<import('./types.js').Claim>}
	 * @throws {import('./errors.js').ElicitationOpenError} if it is not completed, or not any more after a failover
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 * @throws {import('./errors.js').ElicitationSealError} if no key opens what another call has returned
	 */
	async beginClaim(id, options) {
		const { rowKey } = this.#rowOf(id, options);
		const { signal } = options;
		checkSignal(signal);
		return this.#claims.begin(rowKey, {
			reference: options.reference === undefined ? null : checkReference(options.reference),
			lease: checkMilliseconds('lease', options.lease ?? CLAIM_LEASE_MS, CLAIM_LEASE_MIN_MS, CLAIM_LEASE_MAX_MS),
			timeout: checkTimeout(options.timeout ?? 0), signal,
			claimId: options.claimId === undefined ? undefined : checkId(options.claimId, 'claimId'), fence: options.fence,
			anyPayment: checkFlag('anyPayment', options.anyPayment, false), ...checkRecheck(options),
		});
	}

	/**
	 * Asks providers, by the functions of `rechecks`, about all events that nobody has asked about, also where
	 * nobody waits. Each instance does so once a minute by itself.
	 *
	 * @returns {Promise<number>} about how many elicitations
	 * @throws {Error} the first that fails, with what the function threw as its cause. It is asked about again later
	 */
	async recheckDue() {
		this.#checkOpen();
		return this.#rechecks.askAll();
	}

	/**
	 * Deletes purgeable data in batches: elicitations to which nothing can happen
	 * any more, never one with a payment that no call has claimed; results that are
	 * due; and what adapters stored and has expired.
	 *
	 * @param {import('./types.js').PurgeOptions} [options]
	 * @returns {Promise<number>} how much
	 */
	async purge(options = {}) {
		this.#checkOpen();
		return this.#purger.purge(options);
	}

	/**
	 * Creates a cookie that tells the callback programs who the user is. They
	 * must be on the same host and be configured with
	 * `"user_check": "session-ticket"`. Send it only to a browser whose web
	 * session identifies the user.
	 *
	 * @param {import('./types.js').TicketOptions} options
	 * @returns {import('./types.js').Ticket}
	 */
	ticket({ subject, ttl }) {
		const name = checkText('subject', subject, 1, SUBJECT_MAX);
		return ticketCookie(this.#keys, name, checkMilliseconds('ttl', ttl ?? TICKET_MS, 1, TICKET_MAX_MS));
	}

	/** How many waits are open in this process, for the metrics of a server. */
	get openWaits() {
		return this.#waits.size;
	}

	/** What this process knows of its waits: text for Prometheus, to be added to the metrics of a server. */
	metrics() {
		return this.#metrics.text();
	}

	/**
	 * Rejects open waits with UrlModeClosedError, waits for calls of `create`,
	 * `complete` and `cancel` in progress, and closes all connections. Calls to
	 * which PostgreSQL has not answered after two seconds are rejected as well.
	 *
	 * @returns {Promise<void>}
	 */
	close() {
		this.#closed ??= this.#close();
		return this.#closed;
	}

	async #close() {
		this.#events.close();
		this.#rechecks.close();
		const closed = Promise.all([this.#claims.close(), this.#waits.close(new UrlModeClosedError()), this.#ledger.close(), ...[...this.#closers].map((close) => close())]);
		await Promise.all([...this.#finishers].map((finish) => finish()));
		const overdue = setTimeout(() => this.#database.breakOff(), CLOSE_MS);
		await closed;
		await this.#purger.close();
		await Promise.all([this.#listener.close(), this.#database.close()]);
		clearTimeout(overdue);
	}

	#checkOpen() {
		if (this.#closed) throw new UrlModeClosedError();
		this.#rechecks.start();
	}

	/**
	 * Each method that is about one elicitation begins with it.
	 *
	 * @param {unknown} id
	 * @param {Owner} options
	 */
	#rowOf(id, options) {
		this.#checkOpen();
		const owner = checkOwner(options);
		return { rowKey: { id: checkId(id), binding: bindingOf(owner.subject, owner.session, this.#tenant) }, owner };
	}

	/**
	 * @param {import('./database.js').RowKey} rowKey
	 * @param {Answer} answer
	 */
	async #complete(rowKey, answer) {
		const { json, ...rest } = checkAnswer(answer);
		const result = json === null ? null : seal(this.#keys, { ...rowKey, use: RESULT_INFO }, json);
		return this.#database.settle({ ...rowKey, ...rest, result });
	}

	/** @param {import('./database.js').RowKey} rowKey */
	async #read(rowKey) {
		const [row] = await readRows((text, values) => this.#database.query(text, values, true), [rowKey]);
		return row;
	}

	/**
	 * @param {import('./database.js').RowKey} rowKey
	 * @param {{ subject: string, session: string }} owner
	 * @param {import('./contract-words.js').EndAction} action
	 * @param {string} reason
	 */
	async #abandon(rowKey, owner, action, reason) {
		const outcome = await this.#database.abandon(rowKey, action, reason);
		if (outcome === 'completed') void this.#events.completion(rowKey.id, owner);
		return outcome;
	}
}

// The waiting side: creates elicitations, and waits for the browser, or the
// provider, to complete them through the callback programs.

import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';

import { checkDatabaseUrl, Database, read } from './database.js';
import { ElicitationExistsError, UrlModeClosedError } from './errors.js';
import { Told } from './events.js';
import { Forgetting } from './forgetting.js';
import {
	checkAnswer, checkChoice, checkExpected, checkFlag, checkFunction, checkId, checkMilliseconds, checkOwner,
	checkProvider, checkReason, checkSignal, checkText, checkTimeout, checkTtl,
} from './input.js';
import { KeysFile } from './keys.js';
import { Listener } from './listener.js';
import { setParts } from './parts.js';
import { addVerifier } from './pkce.js';
import { RESULT, seal, unseal, VERIFIER } from './seal.js';
import { ticketCookie } from './ticket.js';
import { bindingOf } from './token.js';
import { checkBaseUrl, checkTargetUrl } from './url.js';
import { Waiters } from './waiters.js';
import { Ways } from './ways.js';

const TTL_MS = 300_000;
const TIMEOUT_MS = 300_000;
const TICKET_MS = 300_000;
const TICKET_MAX_MS = 60 * 60 * 1_000;
const KEEP_MS = 600_000;
/** When the database drops a result at the latest. */
const KEEP_MAX_MS = 24 * 60 * 60 * 1_000;

/** Another call may claim what `create` found to resume; how often that is put up with. */
const RESUME_ATTEMPTS = 3;

/** @type {readonly Kind[]} */
const KINDS = ['oauth', 'payment', 'signature'];

/**
 * @typedef {import('./types.js').Action} Action
 * @typedef {import('./types.js').Answer} Answer
 * @typedef {import('./types.js').CreateOptions} CreateOptions
 * @typedef {import('./types.js').Elicitation} Elicitation
 * @typedef {import('./types.js').Kind} Kind
 * @typedef {import('./types.js').Outcome} Outcome
 * @typedef {import('./types.js').Owner} Owner
 * @typedef {import('./types.js').UrlModeOptions} UrlModeOptions
 * @typedef {import('./types.js').WaitOptions} WaitOptions
 * @typedef {import('./types.js').Way} Way
 */

/** @extends {EventEmitter<import('./types.js').UrlModeEvents>} */
export class UrlMode extends EventEmitter {
	#baseUrl;
	#name;
	#keys;
	#database;
	#listener;
	#waiters;
	#forgetting;
	#ways;
	#told = new Told();
	/** @type {Set<() => Promise<void>>} */
	#closers = new Set();
	/** @type {Promise<void> | undefined} */
	#closed;

	/**
	 * Connects to nothing yet.
	 *
	 * @param {UrlModeOptions} options
	 * @throws {import('./errors.js').KeysFileError}
	 */
	constructor({ databaseUrl, keysFile, baseUrl, name, listen, keepResults }) {
		super();
		const base = checkBaseUrl(baseUrl);
		this.#baseUrl = base.origin;
		this.#name = checkText('name', name ?? base.host, 1, 200);
		const config = checkDatabaseUrl(databaseUrl);
		this.#keys = new KeysFile(checkText('keysFile', keysFile, 1, 4_096));
		this.#ways = new Ways(this.#keys, this.#baseUrl);
		this.#database = new Database(config);
		this.#listener = new Listener(config, {
			listen: checkFlag('listen', listen, true),
			notify: (channel, payload) => this.#database.notify(channel, payload),
		});
		this.#forgetting = new Forgetting(this.#database,
			checkMilliseconds('keepResults', keepResults ?? KEEP_MS, 0, KEEP_MAX_MS));
		this.#waiters = new Waiters(this.#listener, {
			outcomeOf: (row, binding) => this.#outcomeOf(row, binding),
			noteRead: (named) => this.#forgetting.noteRead(named),
			expire: (named) => this.#database.expire(named),
			complete: ({ id, binding }, answer) => this.#complete(id, binding, answer),
		});
		setParts(this, {
			baseUrl: this.#baseUrl, keys: this.#keys, database: this.#database, listener: this.#listener,
			closers: this.#closers,
		});
	}

	/**
	 * Writes the row; then its `url` can be elicited.
	 *
	 * @param {CreateOptions} options
	 * @returns {Promise<Elicitation>}
	 * @throws {import('./errors.js').ElicitationExistsError}
	 */
	async create(options) {
		this.#refuseClosed();
		this.#forgetting.start();
		const id = checkId(options.id ?? randomUUID());
		const provider = checkProvider(options.provider);
		const kind = checkChoice('kind', options.kind, KINDS);
		const owner = checkOwner(options);
		const ttl = checkTtl(options.ttl ?? TTL_MS);
		const expected = checkExpected(options.expected, kind);
		if (options.pkce && kind !== 'oauth') throw new TypeError('pkce is for kind oauth');
		const exclusive = checkFlag('exclusive', options.exclusive, false);
		const resumeKey = options.resumeKey === undefined ? null : checkText('resumeKey', options.resumeKey, 1, 512);
		const binding = bindingOf(owner.subject, owner.session);

		for (let attempt = 0; attempt < RESUME_ATTEMPTS; attempt += 1) {
			const known = resumeKey === null ? undefined : await this.#database.resume(binding, resumeKey);
			if (known) return this.#ways.elicitation({ ...known, binding, resumed: true });

			const way = this.#ways.back({ id, provider, kind, binding, ttl });
			const { targetUrl, verifier } = await this.#target(options, way, binding);
			const expires = await this.#database.create({
				id, provider, kind, ...owner, binding, requester: this.#name, targetUrl: targetUrl.href, expected, verifier,
				ttl, exclusive, resumeKey,
			});
			// Otherwise another call of the same owner was faster, and its elicitation is the one.
			if (expires === undefined) continue;
			if (this.#told.isNews(id, 'created')) {
				this.#tell('created', { elicitationId: id, provider, kind, ...owner, expiresAt: new Date(expires * 1_000) });
			}
			return this.#ways.elicitation({ id, provider, kind, binding, expires, way, resumed: false });
		}
		throw new ElicitationExistsError(id);
	}

	/**
	 * Waits until the elicitation is completed, by whom and on whatever
	 * instance; also when it was before.
	 *
	 * @param {string} id
	 * @param {WaitOptions} options
	 * @returns {Promise<Outcome>}
	 * @throws {import('./errors.js').ElicitationTimeoutError}
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 * @throws {import('./errors.js').ElicitationSealError}
	 */
	async waitForCompletion(id, options) {
		this.#refuseClosed();
		this.#forgetting.start();
		const elicitationId = checkId(id);
		const owner = checkOwner(options);
		const { signal, onProgress, recheck } = options;
		const timeout = checkTimeout(options.timeout ?? TIMEOUT_MS);
		checkSignal(signal);
		checkFunction('onProgress', onProgress);
		checkFunction('recheck', recheck);
		/** @type {((reason: string) => Promise<unknown>) | undefined} */
		const abandon = checkFlag('abandon', options.abandon, false)
			? (reason) => this.#abandon(elicitationId, owner, 'cancel', reason) : undefined;
		if (signal?.aborted) {
			await abandon?.('aborted').catch(() => {});
			throw signal.reason;
		}
		return this.#waiters.wait(elicitationId, bindingOf(owner.subject, owner.session), {
			timeout, signal, onProgress, recheck, abandon, onRow: (row) => this.#tellRow(row, owner),
		});
	}

	/**
	 * Completes from outside a wait: for a server that learned the outcome in
	 * another way.
	 *
	 * @param {string} id
	 * @param {Owner & Answer} options
	 * @returns {Promise<boolean>} whether this call completed it; false: it was completed before, and stays as it is
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 */
	async complete(id, options) {
		this.#refuseClosed();
		const elicitationId = checkId(id);
		const owner = checkOwner(options);
		const completed = await this.#complete(elicitationId, bindingOf(owner.subject, owner.session), options);
		if (completed) void this.#look(elicitationId, owner);
		return completed;
	}

	/**
	 * `complete` with action cancel.
	 *
	 * @param {string} id
	 * @param {Owner & { reason?: string }} options
	 * @returns {Promise<boolean>}
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 */
	async cancel(id, options) {
		const { subject, session, reason = 'cancelled' } = options;
		return this.complete(id, { subject, session, action: 'cancel', reason });
	}

	/**
	 * `complete` for what nobody waits for any more: not while its provider
	 * is at it (processing), and no later `create` with its `resumeKey` finds
	 * it.
	 *
	 * @param {string} id
	 * @param {Owner & { action?: 'decline' | 'cancel', reason?: string }} options cancel, `abandoned` by default
	 * @returns {Promise<boolean>} whether this call completed it
	 * @throws {import('./errors.js').ElicitationNotFoundError}
	 */
	async abandon(id, options) {
		this.#refuseClosed();
		const action = checkChoice('action', options.action ?? 'cancel', /** @type {const} */ (['decline', 'cancel']));
		const reason = checkReason(options.reason ?? 'abandoned');
		const outcome = await this.#abandon(checkId(id), checkOwner(options), action, reason);
		return outcome === 'completed';
	}

	/**
	 * Takes the outcome of a completed elicitation, for a call that goes on
	 * with it. Once: what was paid for is not given twice.
	 *
	 * @param {string} id
	 * @param {Owner} options
	 * @returns {Promise<boolean>} false: another call has taken it, or it is not completed
	 */
	async claim(id, options) {
		this.#refuseClosed();
		const { subject, session } = checkOwner(options);
		return this.#database.claim({ id: checkId(id), binding: bindingOf(subject, session) });
	}

	/**
	 * Says who the user is to callback programs on the same host whose
	 * configuration has `"user_check": "session-ticket"`: a cookie for the
	 * browser whose web session you know the user by.
	 *
	 * @param {import('./types.js').TicketOptions} options
	 * @returns {import('./types.js').Ticket}
	 */
	ticket({ subject, ttl }) {
		const name = checkText('subject', subject, 1, 512);
		return ticketCookie(this.#keys, name, checkMilliseconds('ttl', ttl ?? TICKET_MS, 1, TICKET_MAX_MS));
	}

	/**
	 * Open waits reject with UrlModeClosedError; `create`, `complete` and
	 * `cancel` under way end first. Then no connection is left.
	 *
	 * @returns {Promise<void>}
	 */
	close() {
		this.#closed ??= this.#close();
		return this.#closed;
	}

	async #close() {
		await Promise.all([this.#waiters.close(new UrlModeClosedError()), ...[...this.#closers].map((close) => close())]);
		await this.#forgetting.close();
		await Promise.all([this.#listener.close(), this.#database.close()]);
	}

	#refuseClosed() {
		if (this.#closed) throw new UrlModeClosedError();
	}

	/**
	 * @param {CreateOptions} options
	 * @param {Way} way
	 * @param {Buffer} binding
	 */
	async #target({ targetUrl: given, kind, pkce }, way, binding) {
		const targetUrl = checkTargetUrl(typeof given === 'function' ? await given(way) : given, kind);
		if (!pkce) return { targetUrl, verifier: null };
		const added = addVerifier(targetUrl);
		const place = /** @type {const} */ ({ id: way.elicitationId, binding, use: VERIFIER });
		return { targetUrl: added.url, verifier: seal(this.#keys, place, JSON.stringify(added.verifier)) };
	}

	/**
	 * @param {string} id
	 * @param {Buffer} binding
	 * @param {Answer} answer
	 */
	async #complete(id, binding, answer) {
		const { action, reason, json } = checkAnswer(answer);
		const result = json === null ? null : seal(this.#keys, { id, binding, use: RESULT }, json);
		return this.#database.complete({ id, binding, action, reason, result });
	}

	/**
	 * @param {string} id
	 * @param {Required<Owner>} owner
	 * @param {'decline' | 'cancel'} action
	 * @param {string} reason
	 */
	async #abandon(id, owner, action, reason) {
		const outcome = await this.#database.abandon({ id, binding: bindingOf(owner.subject, owner.session) }, action, reason);
		if (outcome === 'completed') void this.#look(id, owner);
		return outcome;
	}

	/**
	 * Tells of a row that this instance has completed.
	 *
	 * @param {string} id
	 * @param {Required<Owner>} owner
	 */
	async #look(id, owner) {
		if (this.listenerCount('completed') === 0) return;
		try {
			const named = { id, binding: bindingOf(owner.subject, owner.session) };
			const [row] = await read((text, values) => this.#database.query(text, values), [named]);
			if (row) this.#tellRow(row, owner);
		} catch {
			// Nothing depends on it.
		}
	}

	/**
	 * @param {import('./database.js').Row} row
	 * @param {Required<Owner>} owner
	 */
	#tellRow({ id, provider, status, action, reason }, owner) {
		if (status === 'pending' || !this.#told.isNews(id, status)) return;
		const about = { elicitationId: id, provider, ...owner };
		if (status === 'completed') {
			this.#tell('completed', { ...about, status, action: /** @type {Action} */ (action), reason });
		} else {
			this.#tell(status, { ...about, status });
		}
	}

	/**
	 * What a listener throws is its own matter: an uncaught exception, not
	 * the end of a wait.
	 *
	 * @template {keyof import('./types.js').UrlModeEvents} K
	 * @param {K} name
	 * @param {import('./types.js').UrlModeEvents[K][0]} event
	 */
	#tell(name, event) {
		if (this.listenerCount(name) > 0) process.nextTick(() => /** @type {EventEmitter} */ (this).emit(name, event));
	}

	/**
	 * @param {import('./database.js').Row} row completed
	 * @param {Buffer} binding
	 * @returns {Outcome}
	 */
	#outcomeOf(row, binding) {
		const { id, reason } = row;
		const action = /** @type {Action} */ (row.action);
		const result = row.result ? unseal(this.#keys, { id, binding, use: RESULT }, row.result) : undefined;
		/** @type {Outcome} */
		const outcome = { elicitationId: id, action, reason, result };
		// Only an accept has a code that they are for.
		if (action === 'accept' && row.verifier) {
			const verifier = /** @type {import('./pkce.js').Verifier} */ (
				unseal(this.#keys, { id, binding, use: VERIFIER }, row.verifier));
			outcome.codeVerifier = verifier.code_verifier;
			if (verifier.nonce !== undefined) outcome.nonce = verifier.nonce;
		}
		return outcome;
	}
}

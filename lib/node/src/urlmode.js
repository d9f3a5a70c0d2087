// The waiting side: creates elicitations, and waits for the browser, or the
// provider, to complete them through the callback programs.

import { randomUUID } from 'node:crypto';

import { checkDatabaseUrl, Database } from './database.js';
import { UrlModeClosedError } from './errors.js';
import {
	checkAnswer, checkChoice, checkExpected, checkFunction, checkId, checkOwner, checkProvider, checkSignal, checkText,
	checkTimeout, checkTtl,
} from './input.js';
import { KeysFile } from './keys.js';
import { Listener } from './listener.js';
import { addVerifier } from './pkce.js';
import { RESULT, seal, unseal, VERIFIER } from './seal.js';
import { bindingOf, mintState } from './token.js';
import { checkBaseUrl, checkTargetUrl } from './url.js';
import { Waiters } from './waiters.js';

const TTL_MS = 300_000;
const TIMEOUT_MS = 300_000;

/**
 * What the way back may be late against the row, in seconds: it is minted
 * before the row is written, by this machine's clock. The row's own expiry
 * is the one that decides.
 */
const RETURN_ALLOWANCE = 60;

/** @type {readonly Kind[]} */
const KINDS = ['oauth', 'payment', 'signature'];

/**
 * @typedef {'oauth' | 'payment' | 'signature'} Kind
 * @typedef {'accept' | 'decline' | 'cancel'} Action the protocol's own three
 * @typedef {'opened' | 'processing'} Progress
 *
 * @typedef {object} UrlModeOptions
 * @property {string} databaseUrl postgresql://…, as the role urlmode_server
 * @property {string} keysFile path of the keys file, the callback programs' own or the same content; read again when
 *     it changes
 * @property {string} baseUrl where the callback programs are reached: scheme, host and port
 * @property {string} [name] who asks, as the confirm page says it; the host of baseUrl by default. At most 200 bytes
 *
 * @typedef {object} Owner who the elicitation belongs to
 * @property {string} subject who the MCP server's own authorization says the user is; 1 to 512 bytes
 * @property {string} [session] the MCP session where it matters, at most 512 bytes; empty by default
 *
 * @typedef {object} Expected what a payment must match
 * @property {number} amount in minor units
 * @property {string} currency ISO 4217
 *
 * @typedef {object} Way what a target URL may be made of
 * @property {string} elicitationId
 * @property {string} returnUrl where the provider sends the browser: the redirect URI, the success URL
 * @property {string | undefined} cancelUrl where it does without paying; none for kind oauth
 *
 * @typedef {Owner & CreateOnly} CreateOptions
 * @typedef {object} CreateOnly
 * @property {string} provider its name in the callback programs' configuration
 * @property {Kind} kind
 * @property {string | URL | ((way: Way) => string | URL | Promise<string | URL>)} targetUrl where /connect sends the
 *     browser, or a function that makes it, called before the row is written; without `state`
 * @property {number} [ttl] milliseconds from now until it expires, 300 000 by default
 * @property {string} [id] a UUID that is not taken; a random one by default
 * @property {Expected} [expected] for kind payment
 * @property {boolean} [pkce] for kind oauth: adds an S256 challenge (RFC 7636), and a nonce when the scope has `openid`
 *     and the URL has none; the outcome brings both back
 *
 * @typedef {Way & { url: string, expiresAt: Date }} Elicitation `url` is what to elicit with
 *
 * @typedef {object} Recheck what the recheck function is told of the event that wants it
 * @property {string} elicitationId
 * @property {string} provider
 * @property {string | undefined} type the provider's type of the event
 * @property {string | undefined} reference the provider's own reference, for its API
 *
 * @typedef {object} Answer
 * @property {Action} action
 * @property {string} [reason] a short code: a-z, 0-9 and _, at most 64; empty by default
 * @property {object} [result] what JSON can carry, at most 65 506 bytes of it
 *
 * @typedef {Owner & WaitOnly} WaitOptions
 * @typedef {object} WaitOnly
 * @property {number} [timeout] milliseconds, 300 000 by default; 0 looks once, Infinity waits as long as it is open
 * @property {AbortSignal} [signal] ends the wait with its reason; the elicitation goes on
 * @property {(status: Progress) => unknown} [onProgress] each status at most once; what it throws ends the wait
 * @property {(question: Recheck) => Promise<Answer | undefined | void> | Answer | undefined | void} [recheck] asks the
 *     provider for an outcome that a notice could not prove; nothing: the wait goes on. What it throws ends the wait
 *
 * @typedef {object} Outcome
 * @property {string} elicitationId
 * @property {Action} action
 * @property {string} reason empty on a plain accept
 * @property {Record<string, unknown> | undefined} result
 * @property {string} [codeVerifier] on accept, where `pkce` was true
 * @property {string} [nonce] on accept, where `pkce` added one
 */

export class UrlMode {
	#baseUrl;
	#name;
	#keys;
	#database;
	#listener;
	#waiters;
	/** @type {Promise<void> | undefined} */
	#closed;

	/**
	 * Connects to nothing yet.
	 *
	 * @param {UrlModeOptions} options
	 * @throws {import('./errors.js').KeysFileError}
	 */
	constructor({ databaseUrl, keysFile, baseUrl, name }) {
		const base = checkBaseUrl(baseUrl);
		this.#baseUrl = base.origin;
		this.#name = checkText('name', name ?? base.host, 1, 200);
		const config = checkDatabaseUrl(databaseUrl);
		this.#keys = new KeysFile(checkText('keysFile', keysFile, 1, 4_096));
		this.#database = new Database(config);
		this.#listener = new Listener(config);
		this.#waiters = new Waiters(this.#listener, {
			outcomeOf: (row, binding) => this.#outcomeOf(row, binding),
			expire: (named) => this.#database.expire(named),
			complete: ({ id, binding }, answer) => this.#complete(id, binding, answer),
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
		const id = checkId(options.id ?? randomUUID());
		const provider = checkProvider(options.provider);
		const kind = checkChoice('kind', options.kind, KINDS);
		const { subject, session } = checkOwner(options);
		const ttl = checkTtl(options.ttl ?? TTL_MS);
		const expected = checkExpected(options.expected, kind);
		if (options.pkce && kind !== 'oauth') throw new TypeError('pkce is for kind oauth');
		const binding = bindingOf(subject, session);

		const way = this.#wayBack({ id, provider, kind, binding, ttl });
		const { targetUrl: given } = options;
		let targetUrl = checkTargetUrl(typeof given === 'function' ? await given(way) : given, kind);
		let verifier = null;
		if (options.pkce) {
			const added = addVerifier(targetUrl);
			targetUrl = added.url;
			verifier = seal(this.#keys, { id, binding, use: VERIFIER }, JSON.stringify(added.verifier));
		}
		const expires = await this.#database.create({
			id, provider, kind, subject, session, binding, requester: this.#name, targetUrl: targetUrl.href, expected,
			verifier, ttl,
		});
		const state = mintState(this.#keys, 'connect', provider, { id, expires: Math.ceil(expires), binding });
		return {
			...way,
			url: `${this.#baseUrl}/connect/${provider}?state=${state}`,
			expiresAt: new Date(expires * 1_000),
		};
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
		const elicitationId = checkId(id);
		const { subject, session } = checkOwner(options);
		const { signal, onProgress, recheck } = options;
		const timeout = checkTimeout(options.timeout ?? TIMEOUT_MS);
		checkSignal(signal);
		checkFunction('onProgress', onProgress);
		checkFunction('recheck', recheck);
		signal?.throwIfAborted();
		return this.#waiters.wait(elicitationId, bindingOf(subject, session), { timeout, signal, onProgress, recheck });
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
		const { subject, session } = checkOwner(options);
		return this.#complete(elicitationId, bindingOf(subject, session), options);
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
		this.#waiters.close(new UrlModeClosedError());
		await Promise.all([this.#listener.close(), this.#database.close()]);
	}

	#refuseClosed() {
		if (this.#closed) throw new UrlModeClosedError();
	}

	/**
	 * @param {{ id: string, provider: string, kind: Kind, binding: Buffer, ttl: number }} elicitation
	 * @returns {Way}
	 */
	#wayBack({ id, provider, kind, binding, ttl }) {
		if (kind === 'oauth') {
			// Its state is minted by /connect, for the browser that opens it.
			const returnUrl = `${this.#baseUrl}/oauth/${provider}/return`;
			return { elicitationId: id, returnUrl, cancelUrl: undefined };
		}
		const expires = Math.ceil((Date.now() + ttl) / 1_000) + RETURN_ALLOWANCE;
		/** @param {'return' | 'cancel'} purpose */
		const back = (purpose) => {
			const state = mintState(this.#keys, purpose, provider, { id, expires, binding });
			return `${this.#baseUrl}/payment/${provider}/${purpose}?state=${state}`;
		};
		return { elicitationId: id, returnUrl: back('return'), cancelUrl: back('cancel') };
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

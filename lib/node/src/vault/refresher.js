// Refreshes the tokens of an account: one instance at a time, and in an instance one
// call at a time.

import { AccountProvider } from '../accounts/provider.js';
import { codeOf, detailOf, lostBy } from '../accounts/request.js';
import { isTime } from '../accounts/token-response.js';
import { COMMIT_MS, REFRESH_LATE_MS, REFRESH_LEASE_MS } from '../core/contract-limits.js';
import { ProviderUnavailableError, UrlModeClosedError } from '../core/errors.js';
import { isRefused, retried } from './retried.js';
import { sealTokens } from './sealed-tokens.js';

/**
 * @typedef {import('./sealed-tokens.js').Place} Place
 * @typedef {import('../accounts/types.js').Tokens} Tokens
 *
 * @typedef {object} Refreshable
 * @property {Place} place
 * @property {string} version of the tokens
 * @property {Tokens & { refresh_token: string }} tokens
 * @property {string[]} scopes
 *
 * @typedef {{ outcome: 'stored' | 'changed' } | { outcome: 'leased', wait: number } | { outcome: 'failed', detail: string }} Result
 *     `changed`: the row says more. `leased`: another instance is at it
 */

export class Refresher {
	#database;
	#keys;
	#optionsOf;
	#report;
	#isClosed;
	/** @type {Map<string, Promise<Result>>} under way in this process */
	#running = new Map();

	/**
	 * @param {import('./database.js').VaultDatabase} database
	 * @param {import('../core/keys.js').KeyRing} keys
	 * @param {(provider: string, tokens: Tokens) => import('../accounts/types.js').ProviderOptions} optionsOf
	 * @param {(name: 'refreshed' | 'reconnect' | 'failed' | 'disconnected' | 'not_stored', place: Place, more?: object) => void} report
	 * @param {() => boolean} isClosed
	 */
	constructor(database, keys, optionsOf, report, isClosed) {
		this.#database = database;
		this.#keys = keys;
		this.#optionsOf = optionsOf;
		this.#report = report;
		this.#isClosed = isClosed;
	}

	/**
	 * @param {Refreshable} refreshable
	 * @returns {Promise<Result>}
	 */
	refresh(refreshable) {
		const { subject, provider, account } = refreshable.place;
		const key = [subject, provider, account].join('\0');
		const running = this.#running.get(key);
		if (running) return running;
		// `close` waits for those that have begun, and what this one was given could not be stored.
		if (this.#isClosed()) return Promise.reject(new UrlModeClosedError());
		const result = this.#refresh(refreshable).finally(() => this.#running.delete(key));
		this.#running.set(key, result);
		return result;
	}

	/** Resolves when no refresh is under way, and every new token is stored. */
	async finish() {
		await Promise.allSettled(this.#running.values());
	}

	/**
	 * @param {Refreshable} refreshable
	 * @returns {Promise<Result>}
	 */
	async #refresh(refreshable) {
		const { place, version, tokens } = refreshable;
		const options = this.#optionsOf(place.provider, tokens);
		const { outcome, lease, wait_ms: wait } = await this.#database.beginRefresh(place, version, REFRESH_LEASE_MS);
		if (outcome === 'leased') return { outcome, wait: Number(wait) };
		if (outcome === 'paused') return { outcome: 'failed', detail: 'paused' };
		if (outcome === 'lost') this.#report('reconnect', place, { reason: 'refresh_lost' });
		if (outcome !== 'begun') return { outcome: 'changed' };
		let provider;
		try {
			provider = await AccountProvider.open(options);
		} catch (error) {
			// A provider that fails is not asked for its metadata each time either.
			const failed = await this.#fail(refreshable, lease, { detail: codeOf(error) });
			if (error instanceof ProviderUnavailableError) return failed;
			throw error;
		}
		if (!await this.#markSent(place, lease, provider.staysRefreshable)) return { outcome: 'changed' };
		const sent = performance.now();
		let answer;
		try {
			answer = await provider.refresh(tokens.refresh_token);
		} catch (error) {
			const code = codeOf(error);
			return this.#fail(refreshable, lease, {
				detail: detailOf(error), reason: code === 'invalid_grant' ? code : null, lost: lostBy(error),
			});
		}
		let end;
		try {
			const stored = this.#seal(refreshable, answer);
			end = await retried(() => this.#database.commitRefresh(place, version, lessWaited(stored, sent)), COMMIT_MS);
		} catch (error) {
			if (!isRefused(error)) throw error;
			// The old refresh token is not good any more if there is a new one. Sent again, it could end all that the user has granted.
			const isReplaced = (answer.refresh_token ?? tokens.refresh_token) !== tokens.refresh_token;
			const detail = codeOf(error);
			try {
				return await this.#fail(refreshable, lease, { detail, reason: isReplaced ? 'not_stored' : null });
			} finally {
				if (isReplaced) this.#report('not_stored', place, { detail, revoked: await this.#revoke(provider, refreshable, answer) });
			}
		}
		if (end === 'stored') this.#report('refreshed', place);
		// It was disconnected while this refresh was under way, and its lease lost.
		if (end === 'gone') this.#report('disconnected', place, { revoked: await provider.revokeAll(answer) === undefined });
		return { outcome: end === 'stored' ? end : 'changed' };
	}

	/**
	 * If the answer is lost, nobody else sends the token before the lease ends: it can be asked again. If it comes late, it is
	 * asked again, because what is left of the lease must be enough for the request.
	 *
	 * @param {Place} place
	 * @param {string} lease
	 * @param {boolean} isReusable the token can be sent again, whatever becomes of the answer
	 * @returns {Promise<boolean>} false: the lease is lost
	 */
	async #markSent(place, lease, isReusable) {
		for (;;) {
			const { asked, isMarked } = await retried(async () => {
				const now = performance.now();
				return { asked: now, isMarked: await this.#database.markSent(place, lease, REFRESH_LEASE_MS, isReusable) };
			}, REFRESH_LEASE_MS);
			if (!isMarked || performance.now() - asked < REFRESH_LATE_MS) return isMarked;
		}
	}

	/**
	 * Revokes tokens that could not be stored, if they are the last that the account has got: with them some providers would
	 * revoke newer ones.
	 *
	 * @param {AccountProvider} provider
	 * @param {Refreshable} refreshable
	 * @param {Tokens} answer
	 */
	async #revoke(provider, { place: { subject, provider: name, account }, version }, answer) {
		try {
			const [row] = await this.#database.read(subject, name, account);
			return (row === undefined || row.version === version) && await provider.revokeAll(answer) === undefined;
		} catch {
			return false;
		}
	}

	/**
	 * @param {Refreshable} refreshable
	 * @param {string} lease
	 * @param {object} why
	 * @param {string} why.detail
	 * @param {string | null} [why.reason] why the account must be connected again; null: it can be tried again
	 * @param {'answer' | 'gateway' | undefined} [why.lost] it was sent, and nobody knows whether the provider has replaced the token
	 * @returns {Promise<Result>}
	 */
	async #fail({ place, version }, lease, { detail, reason = null, lost }) {
		// After that the lease has ended, and nobody knows that there was an answer.
		await retried(() => this.#database.failRefresh(place, version, lease, reason, lost), REFRESH_LEASE_MS);
		if (reason !== null) {
			this.#report('reconnect', place, { reason });
			return { outcome: 'changed' };
		}
		this.#report('failed', place, { detail });
		return { outcome: 'failed', detail };
	}

	/**
	 * @param {Refreshable} refreshable
	 * @param {Tokens} answer
	 * @returns {import('./database.js').Stored}
	 * @throws {import('../core/errors.js').AccountSizeError}
	 */
	#seal({ place, tokens, scopes }, answer) {
		// What the answer leaves out stays as it was (RFC 6749 sections 5.1 and 6).
		const merged = { ...tokens, ...answer };
		if (answer.expires_in === undefined) delete merged.expires_in;
		return { scopes: scopesOf(answer) ?? scopes, sealed: sealTokens(this.#keys, place, merged), lifetime: lifetimeOf(answer) };
	}
}

/**
 * @param {Tokens} tokens
 * @returns {string[] | undefined} undefined if the answer does not say it
 */
export function scopesOf({ scope }) {
	return scope?.split(/[\s,]+/).filter(Boolean);
}

/**
 * The time for which tokens are valid began when they were asked for, and not when they could be stored.
 *
 * @template {{ lifetime: number | null }} S
 * @param {S} stored
 * @param {number} since by performance.now()
 * @returns {S}
 */
export function lessWaited(stored, since) {
	return { ...stored, lifetime: stored.lifetime && Math.floor(stored.lifetime - (performance.now() - since)) };
}

/**
 * @param {Tokens} tokens
 * @returns {number | null} milliseconds; null: not known
 */
export function lifetimeOf({ expires_in: seconds }) {
	return typeof seconds === 'number' && isTime(seconds) ? Math.floor(seconds * 1_000) : null;
}

// Refreshes the tokens of an account: one instance at a time, and in an instance one
// call at a time.

import { setTimeout as sleep } from 'node:timers/promises';

import { AccountProvider } from '../accounts/provider.js';
import { codeOf, detailOf, lostBy, retryAfterOf } from '../accounts/request.js';
import { isTime } from '../accounts/token-response.js';
import {
	ACCOUNT_LOOK_MS, COMMIT_MS, COMMIT_RETRY_MAX_MS, COMMIT_RETRY_MIN_MS, HOLD_WAIT_MS, REFRESH_LATE_MS, REFRESH_LEASE_MS, REFRESH_SENT_MS,
} from '../core/contract-limits.js';
import { ProviderUnavailableError, UrlModeClosedError } from '../core/errors.js';
import { jittered } from '../core/jitter.js';
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
	#listener;
	#database;
	#keys;
	#optionsOf;
	#report;
	#isClosed;
	/** @type {Map<string, Promise<Result>>} under way in this process */
	#running = new Map();

	/**
	 * @param {import('../core/listener.js').Listener} listener
	 * @param {import('./database.js').VaultDatabase} database
	 * @param {import('../core/keys.js').KeyRing} keys
	 * @param {(provider: string, tokens: Tokens) => import('../accounts/types.js').ProviderOptions} optionsOf
	 * @param {(name: 'refreshed' | 'reconnect' | 'failed' | 'disconnected' | 'not_stored', place: Place, more?: object) => void} report
	 * @param {() => boolean} isClosed
	 */
	constructor(listener, database, keys, optionsOf, report, isClosed) {
		this.#listener = listener;
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
		const user = {};
		this.#listener.acquire(user);
		const result = this.#refresh(refreshable).finally(() => {
			this.#listener.release(user);
			this.#running.delete(key);
		});
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
		const { place, tokens } = refreshable;
		const options = this.#optionsOf(place.provider, tokens);
		const until = performance.now() + REFRESH_LEASE_MS;
		/** @type {Result | undefined} */
		let failed;
		for (;;) {
			const { outcome, lease, wait_ms: wait } = await this.#begin(refreshable, false);
			if (outcome === 'leased') return { outcome, wait: Number(wait) };
			if (outcome === 'paused') return failed ?? { outcome: 'failed', detail: 'paused' };
			if (outcome === 'lost') this.#report('reconnect', place, { reason: 'refresh_lost' });
			if (outcome !== 'begun') return { outcome: 'changed' };
			let provider;
			try {
				provider = await AccountProvider.open(options);
			} catch (error) {
				// A provider that fails is not asked for its metadata each time either.
				failed = await this.#fail(refreshable, lease, { detail: codeOf(error) });
				if (error instanceof ProviderUnavailableError) return failed;
				throw error;
			}
			if (!await this.#markSent(place, lease, provider)) return { outcome: 'changed' };
			const sent = performance.now();
			let answer;
			try {
				answer = await provider.refresh(tokens.refresh_token, failed === undefined);
			} catch (error) {
				failed = await this.#failWith(refreshable, lease, error, reasonOf(error));
				// Whether it may be sent again, and at once, the row says.
				if (failed.outcome !== 'failed' || lostBy(error) === undefined || provider.staysRefreshable || performance.now() > until) return failed;
				await sleep(jittered(COMMIT_RETRY_MIN_MS));
				continue;
			}
			return this.#store(refreshable, lease, provider, answer, sent);
		}
	}

	/**
	 * @param {Refreshable} refreshable
	 * @param {boolean} late
	 */
	async #begin({ place, version }, late) {
		return this.#database.beginRefresh(place, version, REFRESH_LEASE_MS, await this.#listener.holder(HOLD_WAIT_MS), late);
	}

	/**
	 * @param {Refreshable} refreshable
	 * @param {string} lease under which the refresh token was sent
	 * @param {AccountProvider} provider
	 * @param {Tokens} answer
	 * @param {number} sent by performance.now()
	 * @returns {Promise<Result>}
	 */
	async #store(refreshable, lease, provider, answer, sent) {
		const { place, version, tokens } = refreshable;
		// The old refresh token is not good any more if there is a new one. Sent again, it could end all that the user has granted.
		const isReplaced = (answer.refresh_token ?? tokens.refresh_token) !== tokens.refresh_token;
		let end;
		try {
			const stored = { ...this.#seal(refreshable, answer), isReplaced: isReplaced && !provider.staysRefreshable };
			end = await retried(() => this.#database.commitRefresh(place, version, lease, lessWaited(stored, sent)), COMMIT_MS);
		} catch (error) {
			if (!isRefused(error)) throw error;
			const detail = codeOf(error);
			try {
				return await this.#fail(refreshable, lease, { detail, reason: isReplaced ? 'not_stored' : null });
			} finally {
				if (isReplaced) this.#report('not_stored', place, { detail, revoked: await this.#revoke(provider, refreshable, answer) });
			}
		}
		if (end === 'late') return this.#tryLate(refreshable, provider, answer);
		if (end === 'stored') this.#report('refreshed', place);
		// It was disconnected while this refresh was under way, and its lease lost.
		if (end === 'gone') this.#report('disconnected', place, { revoked: await provider.revokeAll(answer) === undefined });
		return { outcome: end === 'stored' ? end : 'changed' };
	}

	/**
	 * Another instance has sent the old refresh token since this one was sent: the provider may have ended the family. The new
	 * refresh token is tried once, under a new lease, and what comes of that is stored. Behind newer tokens it is dropped.
	 *
	 * @param {Refreshable} refreshable
	 * @param {AccountProvider} provider
	 * @param {Tokens} came
	 * @returns {Promise<Result>}
	 */
	async #tryLate(refreshable, provider, came) {
		const { place, tokens } = refreshable;
		// An answer without a refresh token leaves the old one as it was.
		const late = { ...refreshable, tokens: { ...tokens, ...came, refresh_token: came.refresh_token ?? tokens.refresh_token } };
		for (let until = performance.now() + COMMIT_MS, pause = ACCOUNT_LOOK_MS; performance.now() < until; await sleep(jittered(pause))) {
			const { outcome, lease } = await retried(() => this.#begin(refreshable, true), COMMIT_MS);
			if (outcome === 'leased') continue;
			if (outcome !== 'begun') break;
			if (!await this.#markSent(place, lease, provider)) continue;
			const sent = performance.now();
			let answer;
			try {
				answer = await provider.refresh(late.tokens.refresh_token);
			} catch (error) {
				// What is dead must not be connected. Nobody knows what has become of a token whose answer is lost.
				const reason = reasonOf(error) ?? (lostBy(error) === 'answer' ? 'refresh_lost' : null);
				const failed = await this.#failWith(refreshable, lease, error, reason);
				if (reason !== null) return failed;
				pause = Math.min(2 * pause, COMMIT_RETRY_MAX_MS);
				continue;
			}
			return this.#store(late, lease, provider, answer, sent);
		}
		return { outcome: 'changed' };
	}

	/**
	 * If the answer is lost, nobody else sends the token before the lease ends: it can be asked again. If it comes late, it is
	 * asked again, because what is left of the lease must be enough for the request.
	 *
	 * @param {Place} place
	 * @param {string} lease
	 * @param {AccountProvider} provider
	 * @returns {Promise<boolean>} false: the lease is lost
	 */
	async #markSent(place, lease, { staysRefreshable, reuse }) {
		const time = staysRefreshable ? REFRESH_LEASE_MS : REFRESH_SENT_MS;
		for (;;) {
			const { asked, isMarked } = await retried(async () => {
				const now = performance.now();
				return { asked: now, isMarked: await this.#database.markSent(place, lease, time, staysRefreshable, reuse) };
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
	 * @param {unknown} error of the request
	 * @param {string | null} reason
	 */
	#failWith(refreshable, lease, error, reason) {
		return this.#fail(refreshable, lease, { detail: detailOf(error), reason, lost: lostBy(error), retryAfter: retryAfterOf(error) });
	}

	/**
	 * @param {Refreshable} refreshable
	 * @param {string} lease
	 * @param {object} why
	 * @param {string} why.detail
	 * @param {string | null} [why.reason] why the account must be connected again; null: it can be tried again
	 * @param {'answer' | 'status' | undefined} [why.lost] it was sent, and nobody knows whether the provider has replaced the token
	 * @param {number | undefined} [why.retryAfter] milliseconds
	 * @returns {Promise<Result>}
	 */
	async #fail({ place, version }, lease, { detail, reason = null, lost, retryAfter }) {
		// For as long as new tokens are kept: after that the lease has ended, and nobody knows that there was an answer.
		await retried(() => this.#database.failRefresh(place, version, lease, reason, lost, retryAfter), COMMIT_MS);
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
 * @param {unknown} error of a request for tokens
 * @returns {string | null} why the account must be connected again
 */
function reasonOf(error) {
	const code = codeOf(error);
	return code === 'invalid_grant' && lostBy(error) === undefined ? code : null;
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

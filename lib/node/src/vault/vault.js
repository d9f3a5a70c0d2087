// The vault: accounts that users have connected, whose tokens are sealed in the
// database and refreshed when they are needed.

import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { AccountProvider } from '../accounts/provider.js';
import { codeOf, detailOf } from '../accounts/request.js';
import { unusableOf, VARIABLES } from '../accounts/token-response.js';
import { orAborted } from '../core/abort.js';
import {
	ACCOUNT_LOOK_MS, ACCOUNT_MAX, COMMIT_MS, REFRESH_LEASE_MS, SUBJECT_MAX, VALID_FOR_MAX_MS,
} from '../core/contract-limits.js';
import { TEXTS } from '../core/contract-texts.js';
import {
	AccountNotConnectedError, AccountReconnectError, AccountSealError, AccountUnavailableError, ElicitationNotFoundError, KeysFileError,
	UnclaimedPaymentsError, UrlModeClosedError,
} from '../core/errors.js';
import { checkId, checkMilliseconds, checkProvider, checkSignal, checkText } from '../core/arguments.js';
import { finish, internalsOf } from '../core/internals.js';
import { jittered } from '../core/jitter.js';
import { haveCommonKey, openKeys } from '../core/keys.js';
import { bindingOf } from '../core/token.js';
import { judge } from './access.js';
import { accountOwner, whoseAccount } from './account-owner.js';
import { VaultDatabase } from './database.js';
import { readKept } from './kept-token.js';
import { lessWaited, lifetimeOf, Refresher, scopesOf } from './refresher.js';
import { isChanged, isRefused, retried } from './retried.js';
import { openTokens, sealTokens } from './sealed-tokens.js';

/** The account of a provider that does not say whose it is. */
const ONLY_ACCOUNT = 'default';

/**
 * @typedef {import('./sealed-tokens.js').Place} Place
 * @typedef {import('./types.js').AccessToken} AccessToken
 * @typedef {import('./types.js').AccountKey} AccountKey
 * @typedef {import('./types.js').ListedAccount} ListedAccount
 * @typedef {import('./types.js').ToBeStored} ToBeStored
 * @typedef {import('./types.js').VaultOptions} VaultOptions
 */

/**
 * For the adapters.
 *
 * @type {(vault: Vault, provider: string) => { urlmode: import('../core/urlmode.js').UrlMode, options: import('../accounts/types.js').ProviderOptions,
 *     keep: (owner: import('./types.js').ElicitationOwner, connected: ToBeStored & { elicitationId: string }) => Promise<string>,
 *     isInUse: (owner: import('./types.js').ElicitationOwner) => Promise<boolean> }}
 */
export let partsOf;

/** @extends {EventEmitter<import('./types.js').VaultEvents>} */
export class Vault extends EventEmitter {
	#urlmode;
	#tenant;
	#database;
	#keys;
	#providers;
	#refresher;

	/**
	 * @param {import('../core/urlmode.js').UrlMode} urlmode whose database it uses. Its `close` waits for requests to providers that are under way
	 * @param {VaultOptions} options
	 * @throws {import('../core/errors.js').KeysFileError}
	 */
	constructor(urlmode, { keysFile, keys, providers }) {
		super();
		const { database, finishers, isClosed, keys: callbackKeys, listener, tenant } = internalsOf(urlmode);
		if (typeof providers !== 'object' || providers === null) throw new TypeError('providers must be an object, with the name of each provider');
		this.#urlmode = urlmode;
		this.#tenant = tenant;
		this.#database = new VaultDatabase(database, tenant);
		this.#keys = openKeys(keysFile, keys);
		if (haveCommonKey(this.#keys, callbackKeys)) {
			throw new KeysFileError(`${keysFile ?? 'keys'}: ${TEXTS.vaultKeysAreShared}`);
		}
		this.#providers = providers;
		this.#refresher = new Refresher(listener, this.#database, this.#keys, (provider, tokens) => this.#optionsOf(provider, tokens),
			(name, place, more) => this.#report(name, { ...place, ...more }), isClosed);
		finishers.add(() => this.#refresher.finish());
	}

	/**
	 * Stores what `withAccount` gives its body, over what there is of the same account.
	 *
	 * @param {{ subject: string, provider: string }} owner the user, and the provider's name in the configuration
	 * @param {ToBeStored} connected what `withAccount` has given
	 * @returns {Promise<string>} the account
	 * @throws {ElicitationNotFoundError} the user was forgotten, after the elicitation that `connected` names was created
	 */
	async store(owner, connected) {
		const { subject, provider } = this.#keyOf(owner);
		const { elicitationId } = connected;
		const id = elicitationId === undefined ? null : checkId(elicitationId);
		const since = performance.now();
		return this.#store({ subject, provider }, connected, async (place, make) => {
			const stored = await retried(async () => this.#database.store(place, lessWaited(await make(), since), id), COMMIT_MS, (error) => !isChanged(error));
			if (!stored) throw new ElicitationNotFoundError(String(elicitationId));
		});
	}

	/**
	 * @param {{ subject: string, provider: string }} owner the user, and the provider's name in the configuration
	 * @param {ToBeStored} connected what `withAccount` has given
	 * @param {(place: Place, make: () => Promise<import('./database.js').Connected>) => Promise<void>} write
	 * @returns {Promise<string>} the account
	 */
	async #store(owner, { tokens, account, scopes, requested, variables }, write) {
		const place = { ...owner, account: checkText('account', account?.id ?? ONLY_ACCOUNT, 1, ACCOUNT_MAX) };
		if (typeof tokens?.access_token !== 'string') throw new TypeError(TEXTS.accessTokenRequired);
		const unusable = unusableOf(tokens);
		if (unusable !== undefined) throw new TypeError(`tokens.${unusable} must have no control characters`);
		const granted = scopes ?? scopesOf(tokens) ?? [];
		await write(place, async () => {
			const kept = tokens.refresh_token === undefined ? await readKept(this.#database, this.#keys, place, granted) : undefined;
			return {
				scopes: granted, requested: requested ?? granted, lifetime: lifetimeOf(tokens), kept: kept?.version ?? null,
				sealed: sealTokens(this.#keys, place, withVariables({ ...tokens, ...kept && { refresh_token: kept.refreshToken } }, variables)),
			};
		});
		this.#report('connected', { ...place, scopes: granted });
		return place.account;
	}

	/**
	 * Stores the tokens for which a call has exchanged the code of its elicitation. Nobody can exchange it again: storing
	 * is tried for some time, and tokens that cannot be stored are revoked.
	 *
	 * @param {import('./types.js').ElicitationOwner} owner
	 * @param {ToBeStored & { elicitationId: string }} connected
	 * @returns {Promise<string>} the account
	 */
	async #keep({ subject, session = '', provider }, connected) {
		const rowKey = { id: connected.elicitationId, binding: bindingOf(subject, session, this.#tenant) };
		const owner = { subject: accountOwner(this.#tenant, subject), provider };
		const since = performance.now();
		try {
			return await this.#store(owner, connected, async ({ account }, make) => {
				const stored = await retried(async () => this.#database.storeExchanged(rowKey, account, lessWaited(await make(), since)), COMMIT_MS);
				if (!stored) throw new ElicitationNotFoundError(rowKey.id);
			});
		} catch (error) {
			// Otherwise nobody knows whether they are stored.
			const isCertain = isRefused(error) || error instanceof ElicitationNotFoundError || error instanceof TypeError;
			if (isCertain) await this.#revokeUnstored({ ...owner, account: connected.account?.id ?? ONLY_ACCOUNT }, connected, codeOf(error));
			throw error;
		}
	}

	/**
	 * @param {Place} place which may have no place in the database
	 * @param {ToBeStored} connected what `withAccount` has given
	 * @param {string} detail why they are not stored
	 */
	async #revokeUnstored(place, { tokens, variables }, detail) {
		let revoked = false;
		try {
			const isInUse = await this.#isInUse(place, place.account);
			const at = await AccountProvider.open(this.#optionsOf(place.provider, withVariables(tokens, variables)));
			revoked = !isInUse && await at.revokeAll(tokens) === undefined;
		} catch {
			// The call has the error that says why they are not stored.
		}
		this.#report('not_stored', { ...place, detail, revoked });
	}

	/**
	 * Whether the account has tokens, which some providers would revoke with others of the same account.
	 *
	 * @param {{ subject: string, provider: string }} owner the user, and the provider's name in the configuration
	 * @param {string} [account] undefined: any of them
	 * @returns {Promise<boolean>} true also if nobody knows
	 */
	async #isInUse({ subject, provider }, account) {
		try {
			const rows = await this.#database.read(subject, provider, null);
			return rows.some(({ account_id: id, state }) => (account === undefined || id === account) && state === 'connected');
		} catch {
			return true; // The call has the error that says why they are not stored.
		}
	}

	/**
	 * An access token that is valid, at once if the stored one is. Otherwise it is refreshed, by one instance at a time, and this
	 * goes on if the signal ends the call. Near its end a token is refreshed in the background.
	 *
	 * @param {import('./types.js').TokenOptions} options whose token, and for how long it must be valid
	 * @returns {Promise<AccessToken>}
	 * @throws {AccountNotConnectedError}
	 * @throws {AccountReconnectError} the provider refuses to refresh it, or its API refuses what came of that: only the user can help
	 * @throws {AccountUnavailableError} it has expired or was refused, and cannot be refreshed just now
	 * @throws {import('../core/errors.js').AccountSealError}
	 */
	async accessToken({ validFor, refused, signal, ...key }) {
		const { subject, provider, account } = this.#keyOf(key);
		if (validFor !== undefined) checkMilliseconds('validFor', validFor, 0, VALID_FOR_MAX_MS);
		if (refused !== undefined && typeof refused !== 'string') throw new TypeError(TEXTS.refusedIsAToken);
		checkSignal(signal);
		const until = performance.now() + REFRESH_LEASE_MS;
		/** @type {{ account: string, version: string } | undefined} */
		let first;
		for (;;) {
			signal?.throwIfAborted();
			const [row] = await this.#database.read(subject, provider, account);
			if (!row) throw new AccountNotConnectedError(provider);
			if (row.state === 'reconnect') throw new AccountReconnectError(provider, row.account_id, row.reason);
			const place = { subject, provider, account: row.account_id };
			const tokens = openTokens(this.#keys, place, row.tokens);
			// Without a name it is the account that was connected last: that may be another one by now.
			if (first?.account !== row.account_id) first = { account: row.account_id, version: row.version };
			const { verdict, isGood } = judge(row, tokens, { validFor, refused, hasChanged: row.version !== first.version });
			const token = toAccessToken(row, tokens);
			if (verdict === 'use') return token;
			if (verdict === 'refused' || verdict === 'expired') throw new AccountReconnectError(provider, row.account_id, verdict);
			const refreshable = { place, version: row.version, tokens: { ...tokens, refresh_token: String(tokens.refresh_token) }, scopes: row.scopes };
			if (verdict === 'use and refresh') {
				this.#refreshAhead(refreshable);
				return token;
			}
			const result = await orAborted(this.#refresher.refresh(refreshable), signal);
			const isOver = result.outcome === 'failed' || result.outcome === 'leased' && performance.now() > until;
			if (isGood && (isOver || result.outcome === 'leased' && validFor === undefined)) return token;
			if (isOver) throw new AccountUnavailableError(provider, result.outcome === 'failed' ? result.detail : 'timeout');
			if (result.outcome === 'leased') await sleep(Math.min(result.wait, jittered(ACCOUNT_LOOK_MS)), undefined, signal && { signal }).catch(() => {});
		}
	}

	/**
	 * In the background, so that an error is an event.
	 *
	 * @param {import('./refresher.js').Refreshable} refreshable
	 */
	#refreshAhead(refreshable) {
		this.#refresher.refresh(refreshable).catch((error) => {
			if (!(error instanceof UrlModeClosedError)) this.#report('failed', { ...refreshable.place, detail: codeOf(error) });
		});
	}

	/**
	 * @param {{ subject: string, provider?: string | undefined }} options the user; the accounts at this provider alone
	 * @returns {Promise<ListedAccount[]>} without tokens, the one that was connected last first
	 */
	async listAccounts({ subject, provider }) {
		const owner = accountOwner(this.#tenant, checkText('subject', subject, 1, SUBJECT_MAX));
		const rows = await this.#database.read(owner, provider === undefined ? null : checkProvider(provider), null);
		return rows.map((row) => ({
			provider: row.provider_name, account: row.account_id, state: row.state, reason: row.reason,
			scopes: row.scopes, requestedScopes: row.requested, connectedAt: row.connected_at, refreshedAt: row.refreshed_at, expiresAt: row.expires_at ?? undefined,
		}));
	}

	/**
	 * Revokes the tokens at the provider, if it has an endpoint for it (RFC 7009), and deletes them in any case. It waits
	 * for a refresh that is under way.
	 *
	 * @param {AccountKey} key
	 * @returns {Promise<{ revoked: boolean, detail?: string }>} `detail`: why they could not be revoked
	 * @throws {AccountNotConnectedError}
	 */
	async disconnect(key) {
		const { subject, provider, account } = this.#keyOf(key);
		const [row] = await this.#database.read(subject, provider, account);
		if (!row) throw new AccountNotConnectedError(provider);
		if (internalsOf(this.#urlmode).isClosed()) throw new UrlModeClosedError();
		return finish(this.#urlmode, this.#disconnect({ subject, provider, account: row.account_id }));
	}

	/**
	 * @param {Place} place
	 * @returns {Promise<{ revoked: boolean, detail?: string }>}
	 */
	async #disconnect(place) {
		/** @type {string | undefined} */
		let detail;
		/** @type {string | null} */
		let first = null;
		for (let isGone = false, hasBegun = false; !isGone;) {
			const start = await this.#database.beginDisconnect(place, REFRESH_LEASE_MS, first);
			first ??= start.first_version;
			if (start.outcome === 'leased') {
				// Otherwise `close` would wait for the lease of another instance.
				if (!hasBegun && internalsOf(this.#urlmode).isClosed()) throw new UrlModeClosedError();
				await sleep(Math.min(Number(start.wait_ms), jittered(ACCOUNT_LOOK_MS)));
			} else if (start.outcome === 'begun') {
				hasBegun = true;
				detail = await this.#revoke(place, start.tokens) ?? detail;
				// Tokens that were stored meanwhile are revoked as well.
				isGone = await retried(() => this.#database.delete(place, start.version), REFRESH_LEASE_MS);
			} else {
				if (!hasBegun) throw new AccountNotConnectedError(place.provider);
				isGone = true;
			}
		}
		this.#report('disconnected', { ...place, revoked: detail === undefined });
		return { revoked: detail === undefined, ...detail !== undefined && { detail } };
	}

	/**
	 * @param {Place} place
	 * @param {Buffer} sealed
	 * @returns {Promise<string | undefined>} why they could not be revoked
	 */
	async #revoke(place, sealed) {
		try {
			const tokens = openTokens(this.#keys, place, sealed);
			const at = await AccountProvider.open(this.#optionsOf(place.provider, tokens));
			return await at.revokeAll(tokens);
		} catch (error) {
			return detailOf(error);
		}
	}

	/**
	 * Deletes all that is stored of a user, but references and amounts of payments.
	 *
	 * @param {{ subject: string }} options the user
	 * @throws {UnclaimedPaymentsError} with the payments that must be claimed or refunded first
	 */
	async forgetSubject({ subject }) {
		const unclaimed = await this.#database.forget(checkText('subject', subject, 1, SUBJECT_MAX));
		if (unclaimed.length > 0) throw new UnclaimedPaymentsError(unclaimed);
	}

	/** @returns {Promise<{ kid: number, accounts: number }[]>} the keys that the vault still needs, and for how many accounts each */
	keysInUse() {
		return this.#database.keys();
	}

	/**
	 * Seals everything with the newest key, in batches, while all goes on. An account whose tokens do not open stays
	 * as it is, and is told as `unopened`.
	 *
	 * @returns {Promise<{ sealed: number, unopened: number }>} how many accounts
	 */
	async reseal() {
		const sums = { sealed: 0, unopened: 0 };
		const { kid } = this.#keys.minting;
		let last = { subject: '', provider: '', account: '' };
		for (;;) {
			const rows = await this.#database.listSealed(kid, last);
			if (rows.length === 0) return sums;
			for (const { tokens, ...place } of rows) {
				last = place;
				if (whoseAccount(place.subject).tenant !== this.#tenant) continue;
				try {
					const sealed = sealTokens(this.#keys, place, openTokens(this.#keys, place, tokens));
					if (await this.#database.reseal(place, tokens, sealed)) sums.sealed += 1;
				} catch (error) {
					if (!(error instanceof AccountSealError)) throw error;
					sums.unopened += 1;
					this.#report('unopened', { ...place, reason: error.reason });
				}
			}
		}
	}

	/**
	 * @param {string} provider
	 * @param {import('../accounts/types.js').Tokens} [tokens] that were stored with the variables of their account
	 */
	#optionsOf(provider, tokens) {
		const options = Object.hasOwn(this.#providers, provider) ? this.#providers[provider] : undefined;
		if (!options) throw new TypeError(`providers.${provider} is missing`);
		return { ...options, provider, variables: { ...options.variables, .../** @type {object} */ (tokens?.[VARIABLES]) } };
	}

	/** @param {AccountKey} key */
	#keyOf(key) {
		const checked = checkKey(key);
		return { ...checked, subject: accountOwner(this.#tenant, checked.subject) };
	}

	static {
		partsOf = (vault, provider) => ({
			urlmode: vault.#urlmode, options: vault.#optionsOf(provider), keep: (owner, connected) => vault.#keep(owner, connected),
			isInUse: (owner) => vault.#isInUse(vault.#keyOf(owner)),
		});
	}

	/**
	 * Later, so that an error of a listener ends no call.
	 *
	 * @param {string} name
	 * @param {Place & Record<string, unknown>} event its subject is the owner of the account
	 */
	#report(name, event) {
		const reported = { ...event, subject: whoseAccount(event.subject).subject };
		process.nextTick(() => /** @type {EventEmitter} */ (/** @type {unknown} */ (this)).emit(name, reported));
	}
}

/**
 * @param {import('../accounts/types.js').Tokens} tokens
 * @param {Record<string, string>} [variables] of the description
 */
function withVariables(tokens, variables = {}) {
	return { ...tokens, ...Object.keys(variables).length > 0 && { [VARIABLES]: variables } };
}

/** @param {AccountKey} key */
function checkKey({ subject, provider, account }) {
	return {
		subject: checkText('subject', subject, 1, SUBJECT_MAX), provider: checkProvider(provider),
		account: account === undefined ? null : checkText('account', account, 1, ACCOUNT_MAX),
	};
}

/**
 * @param {import('./database.js').AccountRow} row
 * @param {import('../accounts/types.js').Tokens} tokens
 * @returns {AccessToken}
 */
function toAccessToken({ account_id: account, scopes, requested, expires_at: expiresAt }, { access_token: accessToken, token_type: tokenType = 'bearer' }) {
	return { accessToken, tokenType, account, scopes, requestedScopes: requested, expiresAt: expiresAt ?? undefined };
}

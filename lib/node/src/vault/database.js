// The functions of the vault (../../../../sql/functions/014_vault.sql).

import { accountOwner, whoseAccount } from './account-owner.js';
import * as sql from './contract-calls.js';

/**
 * @typedef {import('./sealed-tokens.js').Place} Place
 * @typedef {import('./contract-calls.js').AccountRow} AccountRow
 *
 * @typedef {import('./types.js').ListedAccount & { subject: string }} OperatorRow without requestedScopes
 *
 * @typedef {object} Stored tokens to be stored
 * @property {string[]} scopes
 * @property {Buffer} sealed
 * @property {number | null} lifetime milliseconds until the access token expires; null: not known
 *
 * @typedef {Stored & { requested: string[], kept: string | null }} Connected `kept`: the version whose refresh token is stored again
 */

export class VaultDatabase {
	#query;
	#tenant;

	/**
	 * @param {Pick<import('../core/database.js').Database, 'query'>} database
	 * @param {string} tenant
	 */
	constructor(database, tenant) {
		this.#query = database.query.bind(database);
		this.#tenant = tenant;
	}

	/**
	 * @param {Place} place
	 * @param {Connected} connected
	 * @param {string | null} elicitation with which it was connected
	 * @returns {Promise<boolean>} false: the user was forgotten meanwhile
	 */
	async store(place, { scopes, requested, sealed, lifetime, kept }, elicitation) {
		return await sql.storeAccount(this.#query, { ...place, scopes, requested, tokens: sealed, expiresInMs: lifetime, elicitation, kept }) !== null;
	}

	/**
	 * Stores what this call has exchanged a code for, once, and ends the exchange.
	 *
	 * @param {import('../core/database.js').RowKey} rowKey of the elicitation
	 * @param {string} account
	 * @param {Connected} connected
	 * @returns {Promise<boolean>} false: the user was forgotten meanwhile
	 */
	storeExchanged({ id, binding }, account, { scopes, requested, sealed, lifetime, kept }) {
		return sql.storeExchanged(this.#query, { id, binding, account, scopes, requested, tokens: sealed, expiresInMs: lifetime, kept });
	}

	/**
	 * @param {string} subject
	 * @param {string | null} provider
	 * @param {string | null} account
	 * @returns {Promise<AccountRow[]>} the one that was connected last first
	 */
	read(subject, provider, account) {
		return sql.findAccounts(this.#query, { subject, provider, account });
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {number} lease milliseconds
	 * @param {string | null} holder of the lock of the listening session
	 * @param {boolean} late to try a refresh token that came late
	 */
	beginRefresh(place, version, lease, holder, late) {
		return sql.beginLeaseOf(this.#query, { ...place, version, leaseMs: lease, holder, late });
	}

	/**
	 * @param {Place} place
	 * @param {string} lease
	 * @param {number} prolonged milliseconds, from now
	 * @param {boolean} isReusable the token can be sent again, whatever becomes of the answer
	 * @param {number | null} reuse for how many milliseconds after its use the provider takes it again; null: not known
	 * @returns {Promise<boolean>} false: the lease is lost
	 */
	markSent(place, lease, prolonged, isReusable, reuse) {
		return sql.markSending(this.#query, { ...place, lease, leaseMs: prolonged, staysGood: isReusable, reuseMs: reuse });
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {string} lease
	 * @param {Stored & { isReplaced: boolean }} stored isReplaced: there is a new refresh token
	 * @returns {Promise<'stored' | 'changed' | 'late' | 'gone'>} changed: there are newer ones; late: another instance has sent the old one
	 *     since; gone: it was disconnected
	 */
	commitRefresh(place, version, lease, { scopes, sealed, lifetime, isReplaced }) {
		return sql.storeRefreshed(this.#query, { ...place, version, lease, replaced: isReplaced, scopes, tokens: sealed, expiresInMs: lifetime });
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {string} lease
	 * @param {string | null} reason why it must be connected again; null: it can be tried again
	 * @param {'answer' | 'status' | undefined} lost
	 * @param {number | undefined} retryAfter milliseconds
	 */
	failRefresh(place, version, lease, reason, lost, retryAfter) {
		return sql.endRefresh(this.#query, { ...place, version, lease, reason, lost: lost ?? null, retryAfterMs: retryAfter ?? null });
	}

	/**
	 * @param {Place} place
	 * @param {number} lease milliseconds
	 * @param {string | null} first what this has returned before as `first_version`
	 */
	beginDisconnect(place, lease, first) {
		return sql.beginDisconnect(this.#query, { ...place, leaseMs: lease, first });
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @returns {Promise<boolean>} false: there are newer tokens, or none
	 */
	delete(place, version) {
		return sql.deleteAccount(this.#query, { ...place, version });
	}

	/**
	 * Of all users, for the operator.
	 *
	 * @param {string | null} subject
	 * @param {string | null} provider
	 * @param {string | null} state
	 * @returns {Promise<OperatorRow[]>}
	 */
	async list(subject, provider, state) {
		const owner = subject === null ? null : accountOwner(this.#tenant, subject);
		const rows = await sql.listAccounts(this.#query, { subject: owner, provider, state });
		return rows.filter((row) => whoseAccount(row.subject_name).tenant === this.#tenant).map(({ subject_name: user, provider_name: at, account_id: account, ...row }) => /** @type {never} */ ({
			subject: whoseAccount(user).subject, provider: at, account, state: row.state_name, reason: row.reason, scopes: row.scopes,
			connectedAt: row.connected_at, refreshedAt: row.refreshed_at, expiresAt: row.expires_at ?? undefined,
		}));
	}

	/** @returns {Promise<{ kid: number, accounts: number }[]>} */
	async keys() {
		const rows = await sql.vaultKeysOf(this.#query, { tenant: this.#tenant });
		return rows.map(({ kid, accounts }) => ({ kid, accounts: Number(accounts) }));
	}

	/**
	 * @param {number} minting
	 * @param {Place} after
	 * @returns {Promise<(Place & { tokens: Buffer })[]>} some that are sealed with another key, in order
	 */
	listSealed(minting, after) {
		return sql.listSealed(this.#query, {
			minting, afterSubject: after.subject, afterProvider: after.provider, afterAccount: after.account,
		});
	}

	/**
	 * @param {Place} place
	 * @param {Buffer} old
	 * @param {Buffer} sealed
	 */
	reseal(place, old, sealed) {
		return sql.resealAccount(this.#query, { ...place, old, tokens: sealed });
	}

	/**
	 * @param {string} subject
	 * @returns {Promise<import('./types.js').UnclaimedReference[]>} the unclaimed payments that prevent it
	 */
	async forget(subject) {
		const rows = await sql.forgetOwner(this.#query, { tenant: this.#tenant, subject });
		return rows.map(({ unclaimed, amount, ...row }) => ({ elicitationId: unclaimed, ...row, amount: Number(amount) }));
	}
}

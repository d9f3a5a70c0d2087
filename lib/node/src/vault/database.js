// The functions of the vault (../../../../sql/functions/014_vault.sql).

const STORE = 'SELECT urlmode.store_account($1, $2, $3, $4, $5, $6, $7, $8, $9) AS version';
const STORE_EXCHANGED = 'SELECT urlmode.store_exchanged($1, $2, $3, $4, $5, $6, $7, $8) AS done';
const READ = `SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at, expires_in_ms,
	lifetime_ms, version, tokens FROM urlmode.read_accounts($1, $2, $3)`;
const BEGIN = 'SELECT outcome, lease, wait_ms FROM urlmode.begin_refresh($1, $2, $3, $4, $5)';
const MARK_SENT = 'SELECT urlmode.mark_sent($1, $2, $3, $4, $5, $6) AS done';
const COMMIT = 'SELECT urlmode.commit_refresh($1, $2, $3, $4, $5, $6, $7) AS outcome';
const FAIL = 'SELECT urlmode.fail_refresh($1, $2, $3, $4, $5, $6, $7, $8)';
const BEGIN_DISCONNECT = 'SELECT outcome, wait_ms, version, tokens, first_version FROM urlmode.begin_disconnect($1, $2, $3, $4, $5)';
const DELETE = 'SELECT urlmode.delete_account($1, $2, $3, $4) AS done';
const LIST = `SELECT subject_name, provider_name, account_id, state_name, reason, scopes, connected_at, refreshed_at, expires_at
	FROM urlmode.list_accounts($1, $2, $3)`;
const KEYS = 'SELECT kid, accounts FROM urlmode.vault_keys()';
const LIST_SEALED = 'SELECT subject, provider, account, tokens FROM urlmode.list_sealed($1, $2, $3, $4)';
const RESEAL = 'SELECT urlmode.reseal_account($1, $2, $3, $4, $5) AS done';
const FORGET = 'SELECT unclaimed, provider, reference, amount, currency FROM urlmode.forget_subject($1)';

/**
 * @typedef {import('./sealed-tokens.js').Place} Place
 *
 * @typedef {object} AccountRow
 * @property {string} provider_name
 * @property {string} account_id
 * @property {'connected' | 'reconnect'} state
 * @property {string} reason
 * @property {string[]} scopes
 * @property {string[]} requested
 * @property {Date} connected_at
 * @property {Date} refreshed_at
 * @property {Date | null} expires_at
 * @property {string | null} expires_in_ms by PostgreSQL's clock; null: not known
 * @property {string | null} lifetime_ms
 * @property {string} version
 * @property {Buffer} tokens sealed
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

/** @param {Place} place */
const at = ({ subject, provider, account }) => [subject, provider, account];

export class VaultDatabase {
	#query;

	/** @param {Pick<import('../core/database.js').Database, 'query'>} database */
	constructor(database) {
		this.#query = database.query.bind(database);
	}

	/**
	 * @param {Place} place
	 * @param {Connected} connected
	 * @param {string | null} elicitation with which it was connected
	 * @returns {Promise<boolean>} false: the user was forgotten meanwhile
	 */
	async store(place, { scopes, requested, sealed, lifetime, kept }, elicitation) {
		const [row] = await this.#query(STORE, [...at(place), scopes, requested, sealed, lifetime, elicitation, kept]);
		return row?.version !== null;
	}

	/**
	 * Stores what this call has exchanged a code for, once, and ends the exchange.
	 *
	 * @param {import('../core/database.js').RowKey} rowKey of the elicitation
	 * @param {string} account
	 * @param {Connected} connected
	 * @returns {Promise<boolean>} false: the user was forgotten meanwhile
	 */
	async storeExchanged({ id, binding }, account, { scopes, requested, sealed, lifetime, kept }) {
		const [row] = await this.#query(STORE_EXCHANGED, [id, binding, account, scopes, requested, sealed, lifetime, kept]);
		return row?.done === true;
	}

	/**
	 * @param {string} subject
	 * @param {string | null} provider
	 * @param {string | null} account
	 * @returns {Promise<AccountRow[]>} the one that was connected last first
	 */
	async read(subject, provider, account) {
		return /** @type {never} */ (await this.#query(READ, [subject, provider, account]));
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {number} lease milliseconds
	 */
	async beginRefresh(place, version, lease) {
		const [row] = await this.#query(BEGIN, [...at(place), version, lease]);
		return /** @type {{ outcome: 'begun' | 'leased' | 'paused' | 'lost' | 'changed', lease: string, wait_ms: string | null }} */ (row);
	}

	/**
	 * @param {Place} place
	 * @param {string} lease
	 * @param {number} prolonged milliseconds, from now
	 * @param {boolean} isReusable the token can be sent again, whatever becomes of the answer
	 * @returns {Promise<boolean>} false: the lease is lost
	 */
	async markSent(place, lease, prolonged, isReusable) {
		const [row] = await this.#query(MARK_SENT, [...at(place), lease, prolonged, isReusable]);
		return row?.done === true;
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {Stored} stored
	 * @returns {Promise<'stored' | 'changed' | 'gone'>} changed: there are newer ones; gone: it was disconnected
	 */
	async commitRefresh(place, version, { scopes, sealed, lifetime }) {
		const [row] = await this.#query(COMMIT, [...at(place), version, scopes, sealed, lifetime]);
		return /** @type {never} */ (row?.outcome);
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @param {string} lease
	 * @param {string | null} reason why it must be connected again; null: it can be tried again
	 * @param {'answer' | 'gateway' | undefined} lost
	 */
	async failRefresh(place, version, lease, reason, lost) {
		await this.#query(FAIL, [...at(place), version, lease, reason, lost !== undefined, lost === 'gateway']);
	}

	/**
	 * @param {Place} place
	 * @param {number} lease milliseconds
	 * @param {string | null} first what this has returned before as `first_version`
	 */
	async beginDisconnect(place, lease, first) {
		const [row] = await this.#query(BEGIN_DISCONNECT, [...at(place), lease, first]);
		return /** @type {{ first_version: string } & ({ outcome: 'begun', version: string, tokens: Buffer } | { outcome: 'leased', wait_ms: string } | { outcome: 'gone' })} */ (row);
	}

	/**
	 * @param {Place} place
	 * @param {string} version
	 * @returns {Promise<boolean>} false: there are newer tokens, or none
	 */
	async delete(place, version) {
		const [row] = await this.#query(DELETE, [...at(place), version]);
		return row?.done === true;
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
		const rows = await this.#query(LIST, [subject, provider, state]);
		return rows.map(({ subject_name: user, provider_name: at, account_id: account, ...row }) => /** @type {never} */ ({
			subject: user, provider: at, account, state: row.state_name, reason: row.reason, scopes: row.scopes,
			connectedAt: row.connected_at, refreshedAt: row.refreshed_at, expiresAt: row.expires_at ?? undefined,
		}));
	}

	/** @returns {Promise<{ kid: number, accounts: number }[]>} */
	async keys() {
		const rows = await this.#query(KEYS, []);
		return rows.map(({ kid, accounts }) => ({ kid: Number(kid), accounts: Number(accounts) }));
	}

	/**
	 * @param {number} minting
	 * @param {Place} after
	 * @returns {Promise<(Place & { tokens: Buffer })[]>} some that are sealed with another key, in order
	 */
	async listSealed(minting, after) {
		return /** @type {never} */ (await this.#query(LIST_SEALED, [minting, ...at(after)]));
	}

	/**
	 * @param {Place} place
	 * @param {Buffer} old
	 * @param {Buffer} sealed
	 */
	async reseal(place, old, sealed) {
		const [row] = await this.#query(RESEAL, [...at(place), old, sealed]);
		return row?.done === true;
	}

	/**
	 * @param {string} subject
	 * @returns {Promise<import('./types.js').UnclaimedReference[]>} the unclaimed payments that prevent it
	 */
	async forget(subject) {
		const rows = await this.#query(FORGET, [subject]);
		return rows.map(({ unclaimed, amount, ...row }) => /** @type {never} */ ({ elicitationId: unclaimed, ...row, amount: Number(amount) }));
	}
}

// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('../core/contract-calls.js').Query} Query */

const STORE_ACCOUNT = 'SELECT urlmode.store_account($1, $2, $3, $4, $5, $6, $7, $8, $9) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {string[]} values.scopes
 * @param {string[]} values.requested
 * @param {Buffer} values.tokens
 * @param {number | string | null} values.expiresInMs
 * @param {string | null} values.elicitation
 * @param {number | string | null} values.kept the version whose refresh token is stored again
 * @returns {Promise<string | null>}
 */
export async function storeAccount(query, { subject, provider, account, scopes, requested, tokens, expiresInMs, elicitation, kept }) {
	const [row] = await query(STORE_ACCOUNT, [subject, provider, account, scopes, requested, tokens, expiresInMs, elicitation, kept]);
	return /** @type {never} */ (row?.answer);
}

const STORE_EXCHANGED = 'SELECT urlmode.store_exchanged($1, $2, $3, $4, $5, $6, $7, $8) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string} values.account
 * @param {string[]} values.scopes
 * @param {string[]} values.requested
 * @param {Buffer} values.tokens
 * @param {number | string | null} values.expiresInMs
 * @param {number | string | null} values.kept the version whose refresh token is stored again
 * @returns {Promise<boolean>}
 */
export async function storeExchanged(query, { id, binding, account, scopes, requested, tokens, expiresInMs, kept }) {
	const [row] = await query(STORE_EXCHANGED, [id, binding, account, scopes, requested, tokens, expiresInMs, kept]);
	return /** @type {never} */ (row?.answer);
}

/**
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
 * @property {string | null} since_refresh_ms how long ago a refresh has stored them; null: none has since the user has connected the account
 */

const FIND_ACCOUNTS = `SELECT provider_name, account_id, state, reason, scopes, requested, connected_at, refreshed_at, expires_at,
	expires_in_ms, lifetime_ms, version, tokens, since_refresh_ms FROM urlmode.find_accounts($1, $2, $3)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string | null} values.provider
 * @param {string | null} values.account
 * @returns {Promise<AccountRow[]>}
 */
export function findAccounts(query, { subject, provider, account }) {
	return /** @type {Promise<never>} */ (query(FIND_ACCOUNTS, [subject, provider, account], true));
}

/**
 * @typedef {object} BegunRefresh
 * @property {'begun' | 'leased' | 'paused' | 'lost' | 'changed'} outcome
 * @property {string} lease if it has begun
 * @property {string} wait_ms if another instance has the lease: for how long at most
 */

const BEGIN_LEASE_OF = 'SELECT outcome, lease, wait_ms FROM urlmode.begin_lease_of($1, $2, $3, $4, $5, $6, $7)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.version
 * @param {number | string} values.leaseMs
 * @param {number | string | null} values.holder of the lock of the listening session; null: there is none
 * @param {boolean} values.late to try a refresh token that came late
 * @returns {Promise<BegunRefresh>}
 */
export async function beginLeaseOf(query, { subject, provider, account, version, leaseMs, holder, late }) {
	const [row] = await query(BEGIN_LEASE_OF, [subject, provider, account, version, leaseMs, holder, late]);
	return /** @type {never} */ (row);
}

const MARK_SENDING = 'SELECT urlmode.mark_sending($1, $2, $3, $4, $5, $6, $7) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.lease
 * @param {number | string} values.leaseMs from now on
 * @param {boolean} values.staysGood the token can be sent again, whatever becomes of the answer
 * @param {number | string | null} values.reuseMs for how long the provider takes it again; 0: never; null: not known
 * @returns {Promise<boolean>}
 */
export async function markSending(query, { subject, provider, account, lease, leaseMs, staysGood, reuseMs }) {
	const [row] = await query(MARK_SENDING, [subject, provider, account, lease, leaseMs, staysGood, reuseMs]);
	return /** @type {never} */ (row?.answer);
}

const STORE_REFRESHED = 'SELECT urlmode.store_refreshed($1, $2, $3, $4, $5, $6, $7, $8, $9) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.version
 * @param {number | string} values.lease
 * @param {boolean} values.replaced there is a new refresh token
 * @param {string[]} values.scopes
 * @param {Buffer} values.tokens
 * @param {number | string | null} values.expiresInMs
 * @returns {Promise<'stored' | 'changed' | 'late' | 'gone'>}
 */
export async function storeRefreshed(query, { subject, provider, account, version, lease, replaced, scopes, tokens, expiresInMs }) {
	const [row] = await query(STORE_REFRESHED, [subject, provider, account, version, lease, replaced, scopes, tokens, expiresInMs]);
	return /** @type {never} */ (row?.answer);
}

const END_REFRESH = 'SELECT urlmode.end_refresh($1, $2, $3, $4, $5, $6, $7, $8)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.version
 * @param {number | string} values.lease
 * @param {string | null} values.reason why it must be connected again; null: it can be tried again
 * @param {'answer' | 'status' | null} values.lost the provider may have replaced the token; null: it has not
 * @param {number | string | null} values.retryAfterMs as the provider says it
 * @returns {Promise<void>}
 */
export async function endRefresh(query, { subject, provider, account, version, lease, reason, lost, retryAfterMs }) {
	await query(END_REFRESH, [subject, provider, account, version, lease, reason, lost, retryAfterMs]);
}

/**
 * @typedef {object} BegunDisconnect
 * @property {'begun' | 'leased' | 'gone'} outcome
 * @property {string} wait_ms
 * @property {string} version
 * @property {Buffer} tokens
 * @property {string | null} first_version
 */

const BEGIN_DISCONNECT = 'SELECT outcome, wait_ms, version, tokens, first_version FROM urlmode.begin_disconnect($1, $2, $3, $4, $5)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.leaseMs
 * @param {number | string | null} values.first what this has returned before as `first_version`
 * @returns {Promise<BegunDisconnect>}
 */
export async function beginDisconnect(query, { subject, provider, account, leaseMs, first }) {
	const [row] = await query(BEGIN_DISCONNECT, [subject, provider, account, leaseMs, first]);
	return /** @type {never} */ (row);
}

const DELETE_ACCOUNT = 'SELECT urlmode.delete_account($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {number | string} values.version
 * @returns {Promise<boolean>}
 */
export async function deleteAccount(query, { subject, provider, account, version }) {
	const [row] = await query(DELETE_ACCOUNT, [subject, provider, account, version]);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} ListedRow
 * @property {string} subject_name
 * @property {string} provider_name
 * @property {string} account_id
 * @property {string} state_name
 * @property {string} reason
 * @property {string[]} scopes
 * @property {Date} connected_at
 * @property {Date} refreshed_at
 * @property {Date | null} expires_at
 */

const LIST_ACCOUNTS = `SELECT subject_name, provider_name, account_id, state_name, reason, scopes, connected_at, refreshed_at, expires_at FROM
	urlmode.list_accounts($1, $2, $3)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string | null} values.subject
 * @param {string | null} values.provider
 * @param {string | null} values.state
 * @returns {Promise<ListedRow[]>}
 */
export function listAccounts(query, { subject, provider, state }) {
	return /** @type {Promise<never>} */ (query(LIST_ACCOUNTS, [subject, provider, state], true));
}

/**
 * @typedef {object} KeyRow
 * @property {number} kid
 * @property {string} accounts
 */

const VAULT_KEYS_OF = 'SELECT kid, accounts FROM urlmode.vault_keys_of($1)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @returns {Promise<KeyRow[]>}
 */
export function vaultKeysOf(query, { tenant }) {
	return /** @type {Promise<never>} */ (query(VAULT_KEYS_OF, [tenant], true));
}

/**
 * @typedef {object} SealedRow
 * @property {string} subject
 * @property {string} provider
 * @property {string} account
 * @property {Buffer} tokens
 */

const LIST_SEALED = 'SELECT subject, provider, account, tokens FROM urlmode.list_sealed($1, $2, $3, $4)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {number} values.minting
 * @param {string} values.afterSubject
 * @param {string} values.afterProvider
 * @param {string} values.afterAccount
 * @returns {Promise<SealedRow[]>}
 */
export function listSealed(query, { minting, afterSubject, afterProvider, afterAccount }) {
	return /** @type {Promise<never>} */ (query(LIST_SEALED, [minting, afterSubject, afterProvider, afterAccount], true));
}

const RESEAL_ACCOUNT = 'SELECT urlmode.reseal_account($1, $2, $3, $4, $5) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.provider
 * @param {string} values.account
 * @param {Buffer} values.old
 * @param {Buffer} values.tokens
 * @returns {Promise<boolean>}
 */
export async function resealAccount(query, { subject, provider, account, old, tokens }) {
	const [row] = await query(RESEAL_ACCOUNT, [subject, provider, account, old, tokens]);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} ForgottenRow
 * @property {string} unclaimed
 * @property {string} provider
 * @property {string} reference
 * @property {string} amount
 * @property {string} currency
 */

const FORGET_OWNER = 'SELECT unclaimed, provider, reference, amount, currency FROM urlmode.forget_owner($1, $2)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string} values.subject
 * @returns {Promise<ForgottenRow[]>}
 */
export function forgetOwner(query, { tenant, subject }) {
	return /** @type {Promise<never>} */ (query(FORGET_OWNER, [tenant, subject]));
}

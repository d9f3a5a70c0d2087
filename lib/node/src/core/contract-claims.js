// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

/**
 * @typedef {object} ClaimedRow
 * @property {'claimed' | 'recheck' | 'taken' | 'changed' | 'open' | 'unknown'} outcome
 * @property {string} leased_ms for how long nobody can ask the provider
 */

const CLAIM_AT_ONCE = 'SELECT outcome, leased_ms FROM urlmode.claim_at_once($1, $2, $3, $4, $5, $6, $7)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string | null} values.reference of the payment to claim; null: the oldest that matches
 * @param {number | string} values.keepMs for which the result of a payment is kept afterwards
 * @param {import('./types.js').Action} values.action
 * @param {boolean} values.held whether to claim it although a part of it may have gone back
 * @param {number | string | null} values.recheckMs how old the last answer of a recheck may be; null: the caller cannot ask
 * @returns {Promise<ClaimedRow>}
 */
export async function claimAtOnce(query, { id, binding, reference, keepMs, action, held, recheckMs }) {
	const [row] = await query(CLAIM_AT_ONCE, [id, binding, reference, keepMs, action, held, recheckMs]);
	return /** @type {never} */ (row);
}

/**
 * @typedef {object} ClaimRow
 * @property {'begun' | 'fulfilled' | 'leased' | 'recheck' | 'claimed' | 'taken' | 'changed' | 'open' | 'unknown'} outcome
 * @property {string | null} claimed_reference
 * @property {string} fence
 * @property {Buffer} fulfilled
 * @property {string} leased_ms
 */

const BEGIN_LEASE = `SELECT outcome, claimed_reference, fence, fulfilled, leased_ms FROM urlmode.begin_lease($1, $2, $3, $4, $5, $6, $7, $8)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string | null} values.reference
 * @param {number | string} values.leaseMs
 * @param {number | string} values.keepMs
 * @param {string | null} values.claimId
 * @param {boolean} values.anyPayment whether it may be one that does not match, or is held
 * @param {number | string | null} values.recheckMs how old the last answer of a recheck may be; null: the caller cannot ask
 * @returns {Promise<ClaimRow>}
 */
export async function beginLease(query, { id, binding, reference, leaseMs, keepMs, claimId, anyPayment, recheckMs }) {
	const [row] = await query(BEGIN_LEASE, [id, binding, reference, leaseMs, keepMs, claimId, anyPayment, recheckMs]);
	return /** @type {never} */ (row);
}

const RENEW_LEASE = 'SELECT urlmode.renew_lease($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.fence
 * @param {number | string} values.leaseMs
 * @returns {Promise<'renewed' | 'refunded' | 'disputed' | 'lost'>}
 */
export async function renewLease(query, { id, binding, fence, leaseMs }) {
	const [row] = await query(RENEW_LEASE, [id, binding, fence, leaseMs]);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} ContinuedRow
 * @property {'renewed' | 'refunded' | 'disputed' | 'lost'} outcome
 * @property {string} claimed_reference
 * @property {string} next_fence
 */

const CONTINUE_LEASE = 'SELECT outcome, claimed_reference, next_fence FROM urlmode.continue_lease($1, $2, $3, $4)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.fence
 * @param {number | string} values.leaseMs
 * @returns {Promise<ContinuedRow>}
 */
export async function continueLease(query, { id, binding, fence, leaseMs }) {
	const [row] = await query(CONTINUE_LEASE, [id, binding, fence, leaseMs]);
	return /** @type {never} */ (row);
}

const FULFIL_LEASE = 'SELECT urlmode.fulfil_lease($1, $2, $3, $4, $5, $6, $7) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.fence
 * @param {Buffer | null} values.fulfilled sealed; null where the claim has both ends at once
 * @param {'delivered' | 'refunded' | null} values.claimEnd
 * @param {string | null} values.refund the provider's reference of the refund
 * @param {number | string} values.keepMs
 * @returns {Promise<'fulfilled' | 'refunded' | 'disputed' | 'lost'>}
 */
export async function fulfilLease(query, { id, binding, fence, fulfilled, claimEnd, refund, keepMs }) {
	const [row] = await query(FULFIL_LEASE, [id, binding, fence, fulfilled, claimEnd, refund, keepMs]);
	return /** @type {never} */ (row?.answer);
}

const CONFIRM_CLAIM = 'SELECT urlmode.confirm_claim($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.fence
 * @param {number | string} values.keepMs
 * @returns {Promise<boolean>}
 */
export async function confirmClaim(query, { id, binding, fence, keepMs }) {
	const [row] = await query(CONFIRM_CLAIM, [id, binding, fence, keepMs]);
	return /** @type {never} */ (row?.answer);
}

const RELEASE_CLAIM = 'SELECT urlmode.release_claim($1, $2, $3) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.fence
 * @returns {Promise<boolean>}
 */
export async function releaseClaim(query, { id, binding, fence }) {
	const [row] = await query(RELEASE_CLAIM, [id, binding, fence]);
	return /** @type {never} */ (row?.answer);
}

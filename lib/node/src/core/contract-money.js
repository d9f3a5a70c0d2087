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
 * @typedef {object} UnclaimedRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string} amount
 * @property {string} currency
 * @property {boolean} matches
 * @property {boolean} late
 * @property {Date} proven_at
 * @property {string} refunded
 * @property {boolean} held
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string | null} resume_key
 * @property {Buffer | null} result sealed
 * @property {string | null} item what the payment is for
 */

const UNCLAIMED_OF = `SELECT elicitation, provider_name, reference, amount, currency, matches, late, proven_at, refunded, held, subject,
	session, binding, resume_key, result, item FROM urlmode.unclaimed_of($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<UnclaimedRow[]>}
 */
export function unclaimedOf(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(UNCLAIMED_OF, [tenant, provider, since, id], true));
}

/**
 * @typedef {object} UndeliveredRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {import('./types.js').Kind} kind
 * @property {string | null} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {Date} fulfilled_at
 * @property {Date | null} given_at
 * @property {boolean} has_result whether its result is still kept
 * @property {string} refunded
 * @property {boolean} held
 * @property {string} subject
 * @property {string} session
 * @property {string | null} resume_key
 * @property {string | null} item what the payment or signature is for
 */

const UNDELIVERED_OF = `SELECT elicitation, provider_name, kind, reference, amount, currency, fulfilled_at, given_at, has_result, refunded,
	held, subject, session, resume_key, item FROM urlmode.undelivered_of($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<UndeliveredRow[]>}
 */
export function undeliveredOf(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(UNDELIVERED_OF, [tenant, provider, since, id], true));
}

/**
 * @typedef {object} RefundRow
 * @property {string} elicitation
 * @property {string} provider_name
 * @property {string} reference
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {string | null} reversed
 * @property {Date} received_at
 * @property {Date} changed_at
 * @property {string | null} payment
 * @property {string | null} paid
 * @property {string | null} refunded
 * @property {boolean | null} held
 * @property {boolean} claimed
 * @property {string | null} subject
 * @property {string | null} session
 * @property {string | null} resume_key
 * @property {string | null} item what the payment is for
 */

const REFUNDS_WITH_ITEM = `SELECT elicitation, provider_name, reference, amount, currency, reversed, received_at, changed_at, payment, paid,
	refunded, held, claimed, subject, session, resume_key, item FROM urlmode.refunds_with_item($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string | null} values.provider
 * @param {Date | null} values.since
 * @param {string | null} values.id
 * @returns {Promise<RefundRow[]>}
 */
export function refundsWithItem(query, { tenant, provider, since, id }) {
	return /** @type {Promise<never>} */ (query(REFUNDS_WITH_ITEM, [tenant, provider, since, id], true));
}

const PAID = 'SELECT urlmode.paid($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.item
 * @param {Date | null} values.since when it was proved, or later
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function paid(query, { subject, item, since, tenant }) {
	const [row] = await query(PAID, [subject, item, since, tenant], true);
	return /** @type {never} */ (row?.answer);
}

const DELIVERED = 'SELECT urlmode.delivered($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.subject
 * @param {string} values.item
 * @param {Date | null} values.since when it was proved, or later
 * @param {string} values.tenant
 * @returns {Promise<boolean>}
 */
export async function delivered(query, { subject, item, since, tenant }) {
	const [row] = await query(DELIVERED, [subject, item, since, tenant], true);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} EntitlementRow
 * @property {string} item_name
 * @property {'trialing' | 'active' | 'cancelled' | 'past_due' | 'ended'} status
 * @property {Date | null} until the end of what was paid; null: the provider has not said it yet
 * @property {boolean} entitled whether the status is one of the first three
 * @property {boolean} paused whether it has ended until it is resumed
 * @property {string} provider
 * @property {string} account
 * @property {string | null} subscription
 * @property {string} elicitation
 * @property {Date} opened_at
 */

const ENTITLEMENTS = `SELECT item_name, status, until, entitled, paused, provider, account, subscription, elicitation, opened_at FROM
	urlmode.entitlements($1, $2, $3)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {string} values.subject
 * @param {string | null} values.item
 * @returns {Promise<EntitlementRow[]>}
 */
export function entitlements(query, { tenant, subject, item }) {
	return /** @type {Promise<never>} */ (query(ENTITLEMENTS, [tenant, subject, item], true));
}

/**
 * @typedef {object} TakenRecheck
 * @property {number} lease for the end of this recheck
 * @property {number} rechecks
 * @property {string | null} event_type
 * @property {string[]} unproven_references in the events that ask for a recheck, the last one last
 * @property {string} provider
 * @property {import('./types.js').Expected | 'any' | null} expected
 * @property {string | null} checkout the provider's id of the checkout that was made
 */

const BEGIN_RECHECK = `SELECT lease, rechecks, event_type, unproven_references, provider, expected, checkout FROM urlmode.begin_recheck($1,
	$2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.leaseMs
 * @param {number | string | null} values.maxAgeMs before a claim: how old the last answer may be; null: only if an event asks
 * @returns {Promise<TakenRecheck | undefined>}
 */
export async function beginRecheck(query, { id, binding, leaseMs, maxAgeMs }) {
	const [row] = await query(BEGIN_RECHECK, [id, binding, leaseMs, maxAgeMs]);
	return /** @type {never} */ (row);
}

/**
 * @typedef {object} DueRecheck
 * @property {string} id
 * @property {Buffer} binding
 * @property {number} lease for the end of this recheck
 * @property {number} rechecks
 * @property {string | null} event_type
 * @property {string[]} unproven_references in the events that ask for a recheck, the last one last
 * @property {string} provider
 * @property {import('./types.js').Expected | 'any' | null} expected
 * @property {string | null} checkout the provider's id of the checkout that was made
 */

const BEGIN_RECHECK_OF = `SELECT id, binding, lease, rechecks, event_type, unproven_references, provider, expected, checkout FROM
	urlmode.begin_recheck_of($1, $2, $3)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.tenant
 * @param {unknown} values.providers names of those whose events can be answered, as JSON
 * @param {number | string} values.leaseMs
 * @returns {Promise<DueRecheck | undefined>}
 */
export async function beginRecheckOf(query, { tenant, providers, leaseMs }) {
	const [row] = await query(BEGIN_RECHECK_OF, [tenant, providers && JSON.stringify(providers), leaseMs]);
	return /** @type {never} */ (row);
}

const ANSWER_RECHECK = 'SELECT outcome FROM urlmode.answer_recheck($1, $2, $3, $4, $5, $6)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.lease
 * @param {number} values.rechecks
 * @param {unknown} values.payments entries of the answer, as JSON
 * @param {unknown} values.refunds the same
 * @returns {Promise<string[]>}
 */
export async function answerRecheck(query, { id, binding, lease, rechecks, payments, refunds }) {
	const rows = await query(ANSWER_RECHECK, [id, binding, lease, rechecks, payments && JSON.stringify(payments), refunds && JSON.stringify(refunds)]);
	return /** @type {never} */ (rows.map(({ outcome }) => outcome));
}

/**
 * @typedef {object} ReconciledRow
 * @property {'missing_here' | 'missing_there' | 'differs'} what
 * @property {'payment' | 'refund'} kind
 * @property {string} reference
 * @property {string} payment
 * @property {string} elicitation of the payment
 * @property {string | null} amount
 * @property {string | null} currency
 * @property {string | null} their_amount of the provider
 * @property {string | null} their_currency
 */

const RECONCILE = `SELECT what, kind, reference, payment, elicitation, amount, currency, their_amount, their_currency FROM
	urlmode.reconcile($1, $2, $3, $4, $5, $6)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.provider
 * @param {Date} values.since
 * @param {Date} values.until
 * @param {unknown} values.payments entries, as JSON
 * @param {unknown} values.refunds the same
 * @param {string} values.tenant
 * @returns {Promise<ReconciledRow[]>}
 */
export function reconcile(query, { provider, since, until, payments, refunds, tenant }) {
	return /** @type {Promise<never>} */ (query(RECONCILE, [provider, since, until, payments && JSON.stringify(payments), refunds && JSON.stringify(refunds), tenant], true));
}

const END_RECHECK = 'SELECT urlmode.end_recheck($1, $2, $3, $4, $5)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.lease
 * @param {number} values.rechecks
 * @param {boolean} values.failed whether it has to be done again
 * @returns {Promise<void>}
 */
export async function endRecheck(query, { id, binding, lease, rechecks, failed }) {
	await query(END_RECHECK, [id, binding, lease, rechecks, failed]);
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

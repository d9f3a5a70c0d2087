// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

/**
 * @typedef {object} TakenRecheck
 * @property {number} lease for the end of this recheck
 * @property {number} rechecks
 * @property {string | null} event_type
 * @property {string[]} unproven_references in the events that ask for a recheck, the last one last
 * @property {string} provider
 * @property {import('./money-types.js').Expected | 'any' | null} expected
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
 * @property {import('./money-types.js').Expected | 'any' | null} expected
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

// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/**
 * Sends a statement. `reads`: its function only reads, so that it can be sent once more if its connection was lost before the
 * answer came. Any other is sent again only if it is certain that it was not sent.
 *
 * @typedef {(text: string, values: unknown[], reads?: boolean) => Promise<Record<string, unknown>[]>} Query
 */

/**
 * @typedef {object} NewRow
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {string} subject
 * @property {string} session
 * @property {Buffer} binding
 * @property {string} requester
 * @property {string | null} targetUrl not of a form
 * @property {import('./money-types.js').Expected | 'any' | null} expected
 * @property {Buffer | null} verifier sealed
 * @property {number | string} ttlMs
 * @property {boolean} exclusive
 * @property {string | null} resumeKey of the caller
 * @property {boolean} canRecheck whether the call can answer a recheck
 * @property {Buffer} request digest of the request
 * @property {string | null} checkout the provider's id of the checkout
 * @property {string | null} clientId of the MCP client
 * @property {number} linkKid of the key that mints its link
 * @property {Buffer | null} form sealed
 * @property {import('./create-options.js').Approvers | null} approvers who may decide: null is the subject, none is anybody else
 * @property {number | null} verifyMs the time limit of `verify`, if there is one
 * @property {string | null} traceparent the trace of the call
 * @property {string} tenant empty: none
 * @property {string | null} item what a payment or signature is for
 */

/**
 * @typedef {object} Created
 * @property {string | null} expires_at Unix seconds with a fraction
 * @property {'created' | 'resumed' | 'busy' | 'full' | 'subscribed'} outcome
 */

const CREATE_ELICITATION = `SELECT extract(epoch FROM expires_at) AS expires_at, outcome FROM urlmode.create_elicitation($1, $2, $3, $4, $5, $6,
	$7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`;

/**
 * @param {Query} query
 * @param {NewRow[]} all
 * @returns {Promise<Created[]>}
 */
export function createElicitation(query, all) {
	return /** @type {Promise<never>} */ (query(CREATE_ELICITATION, [
		all.map(({ id }) => id),
		all.map(({ provider }) => provider),
		all.map(({ kind }) => kind),
		all.map(({ subject }) => subject),
		all.map(({ session }) => session),
		all.map(({ binding }) => binding),
		all.map(({ requester }) => requester),
		all.map(({ targetUrl }) => targetUrl),
		all.map(({ expected }) => expected && JSON.stringify(expected)),
		all.map(({ verifier }) => verifier),
		all.map(({ ttlMs }) => ttlMs),
		all.map(({ exclusive }) => exclusive),
		all.map(({ resumeKey }) => resumeKey),
		all.map(({ canRecheck }) => canRecheck),
		all.map(({ request }) => request),
		all.map(({ checkout }) => checkout),
		all.map(({ clientId }) => clientId),
		all.map(({ linkKid }) => linkKid),
		all.map(({ form }) => form),
		all.map(({ approvers }) => approvers && JSON.stringify(approvers)),
		all.map(({ verifyMs }) => verifyMs),
		all.map(({ traceparent }) => traceparent),
		all.map(({ tenant }) => tenant),
		all.map(({ item }) => item),
	]));
}

/**
 * @typedef {object} Resuming
 * @property {Buffer} binding
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {string | null} resumeKey of a request without an item
 * @property {boolean} canRecheck
 * @property {Buffer} request digest of the request
 * @property {string | null} item what a payment or signature is for
 * @property {import('./money-types.js').Expected | 'any' | null} expected
 * @property {Buffer | null} earlierRequest the digest that a package without items has made of it
 */

/**
 * @typedef {object} ResumedRow
 * @property {string | null} id null: there is none
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {'pending' | 'opened' | 'processing' | 'completed' | 'held'} status
 * @property {string} expires_at Unix seconds with a fraction
 * @property {string} expires_in_ms negative if it has expired
 * @property {number | null} link_kid of the key that has minted its link
 */

const RESUME_FOR = `SELECT id, provider, kind, status, extract(epoch FROM expires_at) AS expires_at, expires_in_ms, link_kid FROM
	urlmode.resume_for($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

/**
 * @param {Query} query
 * @param {Resuming[]} all
 * @returns {Promise<ResumedRow[]>}
 */
export function resumeFor(query, all) {
	return /** @type {Promise<never>} */ (query(RESUME_FOR, [
		all.map(({ binding }) => binding),
		all.map(({ provider }) => provider),
		all.map(({ kind }) => kind),
		all.map(({ resumeKey }) => resumeKey),
		all.map(({ canRecheck }) => canRecheck),
		all.map(({ request }) => request),
		all.map(({ item }) => item),
		all.map(({ expected }) => expected && JSON.stringify(expected)),
		all.map(({ earlierRequest }) => earlierRequest),
	], true));
}

/**
 * @typedef {object} RowKey
 * @property {string} id
 * @property {Buffer} binding
 */

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} provider
 * @property {import('./types.js').Kind} kind
 * @property {import('./types.js').OpenStatus | 'completed'} status
 * @property {import('./types.js').Action | null} action
 * @property {string} reason
 * @property {boolean} late whether a payment was proved after the end, which makes the action accept
 * @property {Buffer | null} result sealed
 * @property {Buffer | null} verifier sealed
 * @property {string} closes_in_ms by PostgreSQL's clock; negative if it may be expired
 * @property {import('./money-types.js').Expected | 'any' | null} expected the price that was asked
 * @property {number} failed_attempts how many attempts to pay have failed, or how many problems `verify` has found
 * @property {import('./types.js').OpenStatus | null} completed_from the status that a cancellation by an MCP server has interrupted
 * @property {number} rechecks how many events have required a recheck
 * @property {number} rechecked how many of them were answered
 * @property {string | null} recheck_in_ms for how long nobody may begin a recheck; null or negative: now
 * @property {string | null} payment_reference of the payment that is the outcome
 * @property {string} refunded how much of it went back, in minor units
 * @property {boolean} held whether it was paid, and the operator must decide, because a part of it may have gone back
 * @property {string | null} amount of that payment, in minor units
 * @property {string | null} currency
 * @property {string | null} tax how much of it is tax; null: nobody has said it
 */

const READ_PAID = `SELECT id, provider, kind, status, action, reason, late, result, verifier, closes_in_ms, expected, failed_attempts,
	completed_from, rechecks, rechecked, recheck_in_ms, payment_reference, refunded, held, amount, currency, tax FROM
	urlmode.read_paid($1, $2)`;

/**
 * @param {Query} query
 * @param {RowKey[]} all
 * @returns {Promise<Row[]>}
 */
export function readPaid(query, all) {
	return /** @type {Promise<never>} */ (query(READ_PAID, [all.map(({ id }) => id), all.map(({ binding }) => binding)], true));
}

/**
 * @typedef {object} Abandoned
 * @property {string} id
 * @property {Buffer} binding
 * @property {import('./contract-words.js').EndAction} action
 * @property {string} reason
 */

const ABANDON = 'SELECT outcome FROM urlmode.abandon($1, $2, $3, $4)';

/**
 * @param {Query} query
 * @param {Abandoned[]} all
 * @returns {Promise<('completed' | 'already' | 'opened' | 'processing' | 'unknown')[]>}
 */
export async function abandon(query, all) {
	const rows = await query(ABANDON, [
		all.map(({ id }) => id),
		all.map(({ binding }) => binding),
		all.map(({ action }) => action),
		all.map(({ reason }) => reason),
	]);
	return /** @type {never} */ (rows.map(({ outcome }) => outcome));
}

const EXPIRE = 'SELECT urlmode.expire($1, $2)';

/**
 * @param {Query} query
 * @param {RowKey[]} all
 * @returns {Promise<void>}
 */
export async function expire(query, all) {
	await query(EXPIRE, [all.map(({ id }) => id), all.map(({ binding }) => binding)]);
}

const BEGIN_ASK = 'SELECT urlmode.begin_ask($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {Buffer} values.client digest of its name and version
 * @param {boolean} values.awaited whether its answer comes with its next call
 * @returns {Promise<'' | 'asked' | 'declined' | 'dismissed' | 'failed'>}
 */
export async function beginAsk(query, { id, binding, client, awaited }) {
	const [row] = await query(BEGIN_ASK, [id, binding, client, awaited]);
	return /** @type {never} */ (row?.answer);
}

const END_ASK = 'SELECT urlmode.end_ask($1, $2, $3, $4)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {Buffer} values.client digest of its name and version
 * @param {'accepted' | 'asked' | 'declined' | 'dismissed' | 'failed'} values.answer
 * @returns {Promise<void>}
 */
export async function endAsk(query, { id, binding, client, answer }) {
	await query(END_ASK, [id, binding, client, answer]);
}

const MARK_READ = 'SELECT urlmode.mark_read($1, $2, $3)';

/**
 * @param {Query} query
 * @param {RowKey[]} all
 * @param {object} values
 * @param {number | string} values.keepMs from now until the results are purged
 * @returns {Promise<void>}
 */
export async function markRead(query, all, { keepMs }) {
	await query(MARK_READ, [all.map(({ id }) => id), all.map(({ binding }) => binding), keepMs]);
}

const SETTLE = 'SELECT urlmode.settle($1, $2, $3, $4, $5, $6, $7, $8) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {import('./types.js').Action} values.action
 * @param {string} values.reason
 * @param {Buffer | null} values.result sealed
 * @param {number | string | null} values.amount
 * @param {string | null} values.currency
 * @param {string | null} values.reference
 * @returns {Promise<'completed' | 'late' | 'already' | 'unknown' | 'mismatch' | 'reference_taken' | 'undecided' | 'missing'>}
 */
export async function settle(query, { id, binding, action, reason, result, amount, currency, reference }) {
	const [row] = await query(SETTLE, [id, binding, action, reason, result, amount, currency, reference]);
	return /** @type {never} */ (row?.answer);
}

/**
 * @typedef {object} TakenCheck
 * @property {number} lease for the end of this check
 * @property {Buffer} result sealed
 * @property {string} left_ms until the time limit
 */

const TAKE_CHECK = 'SELECT lease, result, left_ms FROM urlmode.take_check($1, $2)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @returns {Promise<TakenCheck | undefined>}
 */
export async function takeCheck(query, { id, binding }) {
	const [row] = await query(TAKE_CHECK, [id, binding]);
	return /** @type {never} */ (row);
}

const END_CHECK = 'SELECT urlmode.end_check($1, $2, $3, $4, $5) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.lease
 * @param {Buffer | null} values.problem sealed
 * @param {boolean} values.failed whether it is not known
 * @returns {Promise<'completed' | 'opened' | 'refused' | 'late' | 'unknown'>}
 */
export async function endCheck(query, { id, binding, lease, problem, failed }) {
	const [row] = await query(END_CHECK, [id, binding, lease, problem, failed]);
	return /** @type {never} */ (row?.answer);
}

const PURGE_RESULTS = 'SELECT urlmode.purge_results($1) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {number | string} values.keepUnclaimedMs for which the result of a payment is kept until it is claimed
 * @returns {Promise<string>}
 */
export async function purgeResults(query, { keepUnclaimedMs }) {
	const [row] = await query(PURGE_RESULTS, [keepUnclaimedMs]);
	return /** @type {never} */ (row?.answer);
}

const PURGE = 'SELECT urlmode.purge($1, $2) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {number | string} values.keepMs for which it must have been purgeable
 * @param {string | null} values.kind null: everything
 * @returns {Promise<string>}
 */
export async function purge(query, { keepMs, kind }) {
	const [row] = await query(PURGE, [keepMs, kind]);
	return /** @type {never} */ (row?.answer);
}

const END_EXCHANGE = 'SELECT urlmode.end_exchange($1, $2, $3) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string} values.reason
 * @returns {Promise<boolean>}
 */
export async function endExchange(query, { id, binding, reason }) {
	const [row] = await query(END_EXCHANGE, [id, binding, reason]);
	return /** @type {never} */ (row?.answer);
}

const RELEASE_UNSENT = 'SELECT urlmode.release_unsent($1, $2, $3) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string} values.claimId
 * @returns {Promise<boolean>}
 */
export async function releaseUnsent(query, { id, binding, claimId }) {
	const [row] = await query(RELEASE_UNSENT, [id, binding, claimId]);
	return /** @type {never} */ (row?.answer);
}

const READ_EXCHANGE = 'SELECT urlmode.read_exchange($1, $2) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @returns {Promise<string | null>}
 */
export async function readExchange(query, { id, binding }) {
	const [row] = await query(READ_EXCHANGE, [id, binding], true);
	return /** @type {never} */ (row?.answer);
}

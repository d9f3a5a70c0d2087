// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

/**
 * @typedef {object} CreatedTask
 * @property {string} created_at Unix seconds with a fraction
 * @property {string} expires_at Unix seconds with a fraction
 */

const CREATE_TASK = `SELECT extract(epoch FROM created_at) AS created_at, extract(epoch FROM expires_at) AS expires_at FROM
	urlmode.create_task($1, $2, $3, $4)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {string} values.elicitation that it waits for
 * @param {Buffer} values.call sealed
 * @returns {Promise<CreatedTask | undefined>}
 */
export async function createTask(query, { id, binding, elicitation, call }) {
	const [row] = await query(CREATE_TASK, [id, binding, elicitation, call]);
	return /** @type {never} */ (row);
}

/**
 * @typedef {object} TaskRow
 * @property {string} elicitation
 * @property {Buffer} call sealed
 * @property {number} round how often its client was asked for something
 * @property {string[]} answered the keys of this round that it has answered
 * @property {Buffer[]} answers sealed, in the order of `answered`
 * @property {'open' | 'ended' | 'cancelled'} state
 * @property {Buffer | null} result sealed
 * @property {string} created_at Unix seconds with a fraction
 * @property {string} updated_at Unix seconds with a fraction
 * @property {string} expires_at Unix seconds with a fraction
 * @property {'' | 'pending' | 'opened' | 'processing' | 'completed'} status of its elicitation; empty: it is deleted
 * @property {boolean} is_due whether its tool has something to do now
 * @property {boolean} is_leased whether an instance runs its tool
 * @property {boolean} is_unread whether it has a result that was never read
 * @property {'refunded' | 'claimed' | null} withheld why it has none any more
 */

const READ_TASK = `SELECT elicitation, call, round, answered, answers, state, result, extract(epoch FROM created_at) AS created_at,
	extract(epoch FROM updated_at) AS updated_at, extract(epoch FROM expires_at) AS expires_at, status, is_due, is_leased,
	is_unread, withheld FROM urlmode.read_task($1, $2)`;

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @returns {Promise<TaskRow | undefined>}
 */
export async function readTask(query, { id, binding }) {
	const [row] = await query(READ_TASK, [id, binding], true);
	return /** @type {never} */ (row);
}

const ANSWER_TASK_INPUT = 'SELECT urlmode.answer_task_input($1, $2, $3, $4, $5) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.round
 * @param {string} values.name of what was asked
 * @param {Buffer} values.sealed what was answered
 * @returns {Promise<boolean>}
 */
export async function answerTaskInput(query, { id, binding, round, name, sealed }) {
	const [row] = await query(ANSWER_TASK_INPUT, [id, binding, round, name, sealed]);
	return /** @type {never} */ (row?.answer);
}

const BEGIN_TASK = 'SELECT urlmode.begin_task($1, $2, $3, $4) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.leaseMs
 * @param {number} values.lease its number, to make it longer; 0: a new one
 * @returns {Promise<number>}
 */
export async function beginTask(query, { id, binding, leaseMs, lease }) {
	const [row] = await query(BEGIN_TASK, [id, binding, leaseMs, lease]);
	return /** @type {never} */ (row?.answer);
}

const CONTINUE_TASK = 'SELECT urlmode.continue_task($1, $2, $3, $4, $5) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.lease
 * @param {string | null} values.elicitation
 * @param {Buffer | null} values.call sealed
 * @returns {Promise<boolean>}
 */
export async function continueTask(query, { id, binding, lease, elicitation, call }) {
	const [row] = await query(CONTINUE_TASK, [id, binding, lease, elicitation, call]);
	return /** @type {never} */ (row?.answer);
}

const END_TASK = 'SELECT urlmode.end_task($1, $2, $3, $4, $5, $6, $7) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number} values.lease
 * @param {Buffer} values.result sealed
 * @param {string[]} values.claimed the elicitations whose outcomes it was made of
 * @param {number | string[]} values.fences of these claims
 * @param {number | string} values.keepMs from now until the results are purged
 * @returns {Promise<boolean>}
 */
export async function endTask(query, { id, binding, lease, result, claimed, fences, keepMs }) {
	const [row] = await query(END_TASK, [id, binding, lease, result, claimed, fences, keepMs]);
	return /** @type {never} */ (row?.answer);
}

const CONFIRM_TASK = 'SELECT urlmode.confirm_task($1, $2, $3) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @param {number | string} values.keepMs from now until the results are purged
 * @returns {Promise<boolean>}
 */
export async function confirmTask(query, { id, binding, keepMs }) {
	const [row] = await query(CONFIRM_TASK, [id, binding, keepMs]);
	return /** @type {never} */ (row?.answer);
}

const CANCEL_TASK = 'SELECT urlmode.cancel_task($1, $2) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @param {Buffer} values.binding
 * @returns {Promise<boolean>}
 */
export async function cancelTask(query, { id, binding }) {
	const [row] = await query(CANCEL_TASK, [id, binding]);
	return /** @type {never} */ (row?.answer);
}

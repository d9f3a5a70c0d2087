// Generated from lib/contract by `make contract`: change it there.
// The functions of the schema urlmode that an MCP server may call.

/** @typedef {import('./contract-calls.js').Query} Query */

const FUNCTIONS_VERSION = 'SELECT urlmode.functions_version() AS answer';

/**
 * @param {Query} query
 * @returns {Promise<number>}
 */
export async function functionsVersion(query) {
	const [row] = await query(FUNCTIONS_VERSION, [], true);
	return /** @type {never} */ (row?.answer);
}

const END_WALK = 'SELECT urlmode.end_walk($1) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {string} values.id
 * @returns {Promise<string>}
 */
export async function endWalk(query, { id }) {
	const [row] = await query(END_WALK, [id]);
	return /** @type {never} */ (row?.answer);
}

const LIST_MIGRATIONS = 'SELECT name FROM urlmode.list_migrations()';

/**
 * @param {Query} query
 * @returns {Promise<string[]>}
 */
export async function listMigrations(query) {
	const rows = await query(LIST_MIGRATIONS, [], true);
	return /** @type {never} */ (rows.map(({ name }) => name));
}

/**
 * @typedef {object} DigestRow
 * @property {string} name
 * @property {string} digest
 */

const MIGRATION_DIGESTS = 'SELECT name, digest FROM urlmode.migration_digests()';

/**
 * @param {Query} query
 * @returns {Promise<DigestRow[]>}
 */
export function migrationDigests(query) {
	return /** @type {Promise<never>} */ (query(MIGRATION_DIGESTS, [], true));
}

/**
 * @typedef {object} LeaderRow
 * @property {string | null} timeline null: it is in recovery
 * @property {number} pid the process that has answered
 * @property {boolean | null} works false: the commit waits for a standby; null: it is not there
 */

const LEADER = 'SELECT timeline, pid, works FROM urlmode.leader($1)';

/**
 * @param {Query} query
 * @param {object} values
 * @param {number} values.process of the session that has a commit under way; 0: none
 * @returns {Promise<LeaderRow>}
 */
export async function leader(query, { process }) {
	const [row] = await query(LEADER, [process], true);
	return /** @type {never} */ (row);
}

const HOLD = 'SELECT urlmode.hold($1) AS answer';

/**
 * @param {Query} query
 * @param {object} values
 * @param {number | string} values.holder key of the advisory lock of this instance
 * @returns {Promise<boolean>}
 */
export async function hold(query, { holder }) {
	const [row] = await query(HOLD, [holder]);
	return /** @type {never} */ (row?.answer);
}

// FrontMCP: a storage for its elicitations on PostgreSQL, and `this.elicit` in
// URL mode with one of our elicitations. Written against FrontMCP's documented
// interface.

import { connectAccount as connect } from './connect-account.js';
import { elicitByRequest } from './elicit-by-request.js';

export { PostgresStorage } from './storage.js';

/** The default `keyPrefix` of createElicitationStoreFromStorage. */
const DEFAULT_KEY_PREFIX = 'mcp:elicit:';

/**
 * @typedef {import('./types.js').ElicitResult} ElicitResult
 * @typedef {import('./types.js').BaseElicitOptions & ElicitFields} ElicitOptions
 * @typedef {import('./types.js').AccountResult} AccountResult
 * @typedef {import('./types.js').AccountOptions & ElicitFields} AccountOptions
 * @typedef {object} ElicitFields
 * @property {ToolLike} tool the tool that elicits: `this` in its `execute`
 * @property {unknown} schema with which FrontMCP checks the client's response. It must accept missing content, as `z.any()`
 *     does, because clients send none in URL mode
 * @property {StorageLike | undefined} [storage] the storage of FrontMCP's elicitation store. It is used to end FrontMCP's own wait if
 *     the client has not responded. Does not work with the option `encryption`
 * @property {string | undefined} [keyPrefix] the same as for createElicitationStoreFromStorage, `mcp:elicit:` by default
 *
 * @typedef {object} ToolLike the used part of FrontMCP's ToolContext
 * @property {(message: string, schema: never, options: { mode: 'url', elicitationId: string, ttl: number }) =>
 *     Promise<{ status: import('../types.js').Action }>} elicit
 *
 * @typedef {{ publish(channel: string, message: string): Promise<number> }} StorageLike
 */

/**
 * Calls `this.elicit(…, { mode: 'url', elicitationId })` with one of our
 * elicitations, and returns its outcome. The message contains the link, because
 * FrontMCP sends no URL. FrontMCP allows one open elicitation in a session;
 * therefore ours are `exclusive`.
 *
 * @param {ElicitOptions} options
 * @returns {Promise<ElicitResult>}
 * @throws FrontMCP's error for a client without elicitation. FrontMCP then asks the user by its own means, and calls the
 *     tool again
 */
export async function elicitUrl({ tool, schema, storage, keyPrefix = DEFAULT_KEY_PREFIX, ...options }) {
	return elicitByRequest({ exclusive: true, ...options }, {
		signal: undefined,
		progress: undefined,
		isGone: () => false,
		async elicit({ elicitationId, url, message }, { signal, timeout }) {
			// This is the only way to end FrontMCP's wait from outside.
			signal.addEventListener('abort', () => void publishResult(elicitationId, 'cancel'), { once: true });
			const { status } = await tool.elicit(`${message}\n\n${url}`, /** @type {never} */ (schema),
				{ mode: 'url', elicitationId, ttl: timeout });
			return { action: status };
		},
		complete: (elicitationId) => publishResult(elicitationId, 'accept'),
	});

	/**
	 * @param {string} id
	 * @param {'accept' | 'cancel'} status
	 */
	async function publishResult(id, status) {
		await storage?.publish(`${keyPrefix}result:${id}`, JSON.stringify({ status })).catch(() => {});
	}
}

/**
 * Connects an account at a provider of lib/providers with `elicitUrl`, and
 * exchanges the code.
 *
 * @param {AccountOptions} options
 * @returns {Promise<AccountResult>}
 * @throws {import('../errors.js').ProviderUnavailableError}
 * @throws the errors of `elicitUrl`
 */
export async function connectAccount({ tool, schema, storage, keyPrefix, ...options }) {
	return connect(options, (wish) => elicitUrl({ ...wish, tool, schema, storage, keyPrefix }));
}

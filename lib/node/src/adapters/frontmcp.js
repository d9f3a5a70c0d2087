// FrontMCP: its elicitations on PostgreSQL, and `this.elicit` in URL mode with
// a link and an outcome of ours. Written against FrontMCP's documented
// interface.

import { push } from './push.js';

export { PostgresStorage } from './storage.js';

/** Where createElicitationStoreFromStorage puts its keys when it is told nothing else. */
const PREFIX = 'mcp:elicit:';

/**
 * @typedef {import('./types.js').Asked} Asked
 * @typedef {import('./types.js').AskOptions & ElicitOnly} ElicitOptions
 * @typedef {object} ElicitOnly
 * @property {ToolLike} tool the tool that asks: `this` in its `execute`
 * @property {unknown} schema what FrontMCP checks a client's answer with: one that takes no content, such as
 *     `z.any()`, since a client in URL mode sends none
 * @property {StorageLike} [storage] what FrontMCP's elicitation store was made of, for a client that holds its answer:
 *     FrontMCP's own wait is released there. Not with its `encryption`
 * @property {string} [keyPrefix] as createElicitationStoreFromStorage was given it, `mcp:elicit:` by default
 *
 * @typedef {object} ToolLike what is used of FrontMCP's ToolContext
 * @property {(message: string, schema: never, options: { mode: 'url', elicitationId: string, ttl: number }) =>
 *     Promise<{ status: import('../types.js').Action }>} elicit
 *
 * @typedef {{ publish(channel: string, message: string): Promise<number> }} StorageLike
 */

/**
 * `this.elicit(…, { mode: 'url', elicitationId })`, with an elicitation of
 * ours and its outcome. FrontMCP sends no URL of its own, so the message has
 * the link. It lets a session have one open elicitation; so does this.
 *
 * @param {ElicitOptions} options
 * @returns {Promise<Asked>}
 * @throws what FrontMCP throws for a client without elicitation: it then asks by its own way, and calls the tool again
 */
export async function elicitUrl({ tool, schema, storage, keyPrefix = PREFIX, ...options }) {
	return push({ exclusive: true, ...options }, {
		signal: undefined,
		progress: undefined,
		isGone: () => false,
		async elicit({ elicitationId, url, message }, { signal, timeout }) {
			// FrontMCP's wait has no other way to end from outside.
			signal.addEventListener('abort', () => void release(elicitationId, 'cancel'), { once: true });
			const { status } = await tool.elicit(`${message}\n\n${url}`, /** @type {never} */ (schema),
				{ mode: 'url', elicitationId, ttl: timeout });
			return { action: status };
		},
		complete: (elicitationId) => release(elicitationId, 'accept'),
	});

	/**
	 * @param {string} id
	 * @param {'accept' | 'cancel'} status
	 */
	async function release(id, status) {
		await storage?.publish(`${keyPrefix}result:${id}`, JSON.stringify({ status })).catch(() => {});
	}
}

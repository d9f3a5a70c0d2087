// The worked example of a secret: an MCP tool whose user types a key on a page of
// urlmode's own. Neither the client nor the model sees it.

import { collectInput } from 'urlmode/sdk';

/** The only key that the demo's service knows. */
export const DEMO_KEY = 'demo-key-2026';

/**
 * Registers the tool `store_key`.
 *
 * @param {import('@modelcontextprotocol/sdk/server/mcp.js').McpServer} mcp
 * @param {{ urlmode: import('urlmode').UrlMode, keys: Map<string, string>, ttl?: number }} services
 *     keys: the server's own map of subject → key
 */
export function registerStoreKey(mcp, { urlmode, keys, ttl }) {
	mcp.registerTool('store_key', {
		title: 'Store a key',
		description: 'Stores your key of the report service: you type it with your browser.',
	}, (call) => {
		const { subject } = call.authInfo.extra;
		return collectInput({
			urlmode,
			server: mcp,
			call,
			subject,
			provider: 'intake',
			ttl,
			message: 'Your key of the report service is needed.',
			form: {
				title: 'Your key of the report service',
				fields: [{ name: 'key', type: 'secret', label: 'Key', required: true, max: 100, help: `In this demo it is ${DEMO_KEY}. Try another one first.` }],
			},
			verify: ({ values }) => (values.key === DEMO_KEY ? undefined : { field: 'key', problem: 'The report service does not know this key.' }),
		}, async ({ values }) => {
			keys.set(subject, values.key);
			return { content: [{ type: 'text', text: 'The key works, and is stored.' }] };
		});
	});
}

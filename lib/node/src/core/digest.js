// The request of a call as one digest: a later call continues with an earlier
// elicitation only if both ask for the same (lib/PROTOCOL.md).

import { canonicalJson } from './canonical-json.js';
import { CLIENT_LABEL, DIGEST_BYTES, REQUEST_LABEL } from './contract-seals.js';
import { sha256 } from './sha256.js';

/**
 * @param {object} request
 * @param {string} request.provider
 * @param {string} request.kind
 * @param {import('./money-types.js').Expected | 'any' | null} request.expected
 * @param {string | null} [request.item] in place of the price
 * @param {object | undefined} request.about
 * @param {string | null} [request.mcpClient] the MCP client, where it is compared
 * @returns {Buffer} 16 bytes
 */
export function digestOfRequest({ provider, kind, expected, item, about, mcpClient }) {
	const hasItem = item !== null && item !== undefined;
	const json = canonicalJson({
		provider, kind, expected: hasItem ? undefined : expected ?? undefined, item: item ?? undefined, about, mcp_client: mcpClient ?? undefined,
	});
	return sha256(`${REQUEST_LABEL}\0${json}`, DIGEST_BYTES);
}

/**
 * @param {string} [name] of an MCP client, as it sends it
 * @param {string} [version]
 * @returns {Buffer} 16 bytes
 */
export function digestOfClient(name = '', version = '') {
	return sha256(`${CLIENT_LABEL}\0${name}\0${version}`, DIGEST_BYTES);
}

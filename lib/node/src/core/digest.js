// The request of a call as one digest: a later call continues with an earlier
// elicitation only if both ask for the same (lib/PROTOCOL.md).

import { DIGEST_BYTES, REQUEST_LABEL } from './contract-seals.js';
import { sha256 } from './sha256.js';


/**
 * JSON in the canonical form of RFC 8785. Members that are undefined are left out.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function canonicalJson(value) {
	if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value);
	const members = Object.entries(value).filter(([, member]) => member !== undefined)
		.sort(([one], [other]) => (one < other ? -1 : 1));
	return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`;
}

/**
 * @param {object} request
 * @param {string} request.provider
 * @param {string} request.kind
 * @param {import('./types.js').Expected | 'any' | null} request.expected
 * @param {string | null} [request.item] in place of the price
 * @param {object | undefined} request.about
 * @param {string | null} [request.mcpClient] the MCP client, where it is compared
 * @returns {Buffer} 16 bytes
 */
export function digestOfRequest({ provider, kind, expected, item, about, mcpClient }) {
	const what = item === null || item === undefined ? { expected: expected ?? undefined } : { item };
	const json = canonicalJson({ provider, kind, ...what, about, mcp_client: mcpClient ?? undefined });
	return sha256(`${REQUEST_LABEL}\0${json}`, DIGEST_BYTES);
}

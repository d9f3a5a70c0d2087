// Tool calls with simulated clients, and how they end.

import { randomUUID } from 'node:crypto';

import { withElicitation } from '../../src/adapters/sdk2.js';
import { payment, setUp } from './database.js';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
export const URL_CAPABILITY = { elicitation: { url: {} } };

export { signature } from './database.js';
export const never = () => new Promise(() => {});

/** A call of a client of 2025-11-25. `answer` returns its response. */
export function sessionCall({ answer = never, capabilities = URL_CAPABILITY, progressToken, notify = async () => {}, name } = {}) {
	const controller = new AbortController();
	const asked = [];
	const sent = [];
	const transport = { async send(message) {
		if (!message.method) return;
		sent.push(message);
		await notify(message);
	} };
	return {
		asked, sent, controller,
		server: { server: { transport, getClientCapabilities: () => capabilities, getClientVersion: () => name && { name, version: '1.0' } } },
		call: { mcpReq: {
			id: 1, signal: controller.signal, _meta: { progressToken }, requestState: () => undefined,
			async notify(notification) {
				sent.push(notification);
				await notify(notification);
			},
			async send({ params }, { signal, timeout }) {
				asked.push({ ...params, signal, timeout });
				return { action: await answer(params, signal) };
			},
		} },
	};
}

/** A call of a client that gets the link as text. */
export const linkCall = () => sessionCall({ capabilities: {} });

/** A call of 2026-07-28. */
export function round({ state, action, name = 'rounds', capabilities = URL_CAPABILITY } = {}) {
	const controller = new AbortController();
	return {
		controller, asked: [],
		server: { server: { getClientCapabilities: () => undefined, getClientVersion: () => undefined } },
		call: { mcpReq: {
			id: 1, signal: controller.signal, requestState: () => state, inputResponses: action && { urlmode: { action } },
			envelope: { [CAPABILITIES]: capabilities, [CLIENT_INFO]: name && { name, version: '1.0' } }, notify: async () => {},
		} },
	};
}

/**
 * Calls a tool, and says how it has ended: `accept` with what its body was
 * given, `asked`, `pending`, `refused`, or `repeated` with an earlier result.
 */
export async function run({ server, call }, options, body = async () => {}) {
	let accepted;
	const result = await withElicitation({ ...options, server, call }, async (given) => {
		accepted = given;
		return await body(given) ?? { content: [{ type: 'text', text: `Done with ${given.reference}.` }] };
	});
	await server.server.transport?.send({ id: call.mcpReq.id, result });
	const text = result.content?.[0].text;
	if (accepted) return { action: 'accept', ...accepted, text, toolResult: result };
	if (result.resultType) return { action: 'asked', toolResult: result };
	const open = result.structuredContent?.elicitation;
	return { action: open ? 'pending' : result.isError ? 'refused' : 'repeated', ...open, text, toolResult: result };
}

/** A user with the options of a tool. */
export async function start(t, wanted = payment, settings = {}) {
	const fixture = await setUp(t, settings);
	const { urlmode, callback, admin } = fixture;
	const owner = { subject: `user-${randomUUID()}` };
	const options = { ...wanted, ...owner, urlmode, message: 'Please.', roundTimeout: 300 };
	const newest = async () => (await admin.query(
		'SELECT id, status, action, reason FROM urlmode.elicitation WHERE subject = $1 ORDER BY created_at DESC LIMIT 1', [owner.subject])).rows[0];
	return {
		...fixture, owner, options, newest,
		ask: (client, more, body) => run(client, { ...options, ...more }, body),
		state: async () => {
			const { status, action, reason } = await newest();
			return [status, action, reason].filter(Boolean).join(' ');
		},
		/** A client whose user goes on to the provider and stays there. */
		opening: (more) => sessionCall({ ...more, answer: async ({ elicitationId }) => {
			await callback.open(elicitationId, owner);
			return 'accept';
		} }),
		/** From here on a call ends with the outcome, and not with its round, however slow the machine is. */
		finish: (id, more) => {
			options.roundTimeout = 60_000;
			if (wanted.kind === 'oauth') return callback.complete(id, { ...owner, result: { code: 'a' }, ...more });
			return callback.paid(id, { ...owner, ...wanted.kind === 'signature' && { effect: 'accepted' }, ...more });
		},
	};
}

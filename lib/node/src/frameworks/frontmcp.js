// FrontMCP: a storage for its elicitations on PostgreSQL, `this.elicit` in URL
// mode with one of our elicitations, and the plugin that this needs, because
// FrontMCP itself sends no URL to the client.
//
// Compared with FrontMCP 1.5.6.

import { setTimeout as sleep } from 'node:timers/promises';

import { makeAdapter } from '../adapters/adapter.js';
import { traceparentOf } from '../core/traceparent.js';
import { nameItem } from './tool-item.js';

export { PostgresStorage } from './storage.js';

/**
 * @typedef {import('../adapters/types.js').ElicitOptions & CallFields} ElicitOptions
 * @typedef {import('../adapters/types.js').AccountOptions & CallFields} AccountOptions
 * @typedef {import('../adapters/types.js').InputOptions & CallFields} InputOptions
 * @typedef {import('../adapters/types.js').ApprovalOptions & CallFields} ApprovalOptions
 * @typedef {import('../adapters/types.js').Accepted} Accepted
 * @typedef {import('../adapters/types.js').Input} Input
 * @typedef {import('../adapters/types.js').Approval} Approval
 * @typedef {import('../adapters/types.js').Account} Account
 * @typedef {import('../adapters/types.js').UseAccountOptions & CallFields} UseAccountOptions
 * @typedef {import('../adapters/types.js').RequirePaidOptions & CallFields} RequirePaidOptions
 * @typedef {import('../adapters/types.js').Entitlement} Entitlement
 *
 * @typedef {object} CallFields
 * @property {object} call the tool: `this` in its `execute`
 *
 * @typedef {object} ToolLike the used part of FrontMCP's ToolContext, some of which is protected
 * @property {(message: string, schema: unknown, options: { mode: 'url', elicitationId: string, ttl: number }) =>
 *     Promise<{ status: import('../core/types.js').Action }>} elicit
 * @property {(progress: number, total: number | undefined, message: string) => Promise<boolean>} progress
 * @property {AbortSignal} [signal]
 * @property {{ name?: string, outputSchema?: unknown }} [metadata] of the decorator Tool
 * @property {unknown} [input] the arguments of the call
 * @property {{ sessionId: string, authInfo?: { clientId?: string | undefined } | undefined,
 *     traceContext?: { raw: string } | undefined, clearPreResolvedElicitResult(): void }} context
 * @property {ScopeLike} scope
 *
 * @typedef {object} ScopeLike
 * @property {StoreLike} [elicitationStore]
 * @property {{ getClientCapabilities(sessionId: string): object | undefined }} notifications
 *
 * @typedef {{ publishResult(elicitationId: string, sessionId: string, result: { status: string }): Promise<void> }} StoreLike
 *
 * @typedef {object} Sdk the used part of `@frontmcp/sdk`
 * @property {(metadata: never) => ClassDecorator} Plugin
 * @property {(flow: never) => { Will: HookDecorator, Did: HookDecorator }} FlowHooksOf
 * @property {{ unknown(): unknown }} z
 * @typedef {(stage: never) => MethodDecorator} HookDecorator
 *
 * @typedef {object} RequestFlow the used part of FrontMCP's flow `elicitation:request`
 * @property {{ elicitationId?: string, requestParams: Record<string, unknown>, set(key: string, value: unknown): void }} state
 */

/** The code of FrontMCP's error for a client that it has to ask by other means. */
const FALLBACK = 'ELICITATION_FALLBACK';

/** How often a call repeats that FrontMCP's wait is over, in milliseconds. */
const REPEAT_MS = 100;

/** @type {Set<{ url: string, elicitationId: string }>} what the hook adds to requests that are being sent */
const requests = new Set();

/** @type {Sdk | undefined} */
let sdk;

/**
 * Makes a plugin for `plugins` of the server. It adds the URL to a request in
 * URL mode, and can replace the store of FrontMCP's elicitations, for which
 * FrontMCP has no option.
 *
 * @param {Sdk} frontmcp all of `@frontmcp/sdk`
 * @param {{ store?: object }} [options] store: that of createElicitationStoreFromStorage
 * @returns {new () => object}
 */
export function urlPlugin(frontmcp, { store } = {}) {
	const { Plugin, FlowHooksOf } = frontmcp;
	class UrlModePlugin {
		/** @param {RequestFlow} flow */
		addUrl({ state }) {
			const request = [...requests].find(({ elicitationId }) => elicitationId === state.elicitationId);
			if (!request) return;
			const { requestedSchema, ...params } = state.requestParams;
			state.set('requestParams', { ...params, ...request });
		}

		/** @param {{ scope: object }} flow */
		setStore({ scope }) {
			Object.assign(scope, { _elicitationStore: store });
		}
	}
	/**
	 * @param {string} flow
	 * @param {'Will' | 'Did'} when
	 * @param {string} stage
	 * @param {'addUrl' | 'setStore'} method
	 */
	const hook = (flow, when, stage, method) => {
		FlowHooksOf(/** @type {never} */ (flow))[when](/** @type {never} */ (stage))(UrlModePlugin.prototype, method, {});
	};
	hook('elicitation:request', 'Did', 'buildRequestParams', 'addUrl');
	if (store) {
		for (const flow of ['tools:call-tool', 'elicitation:result']) hook(flow, 'Will', 'parseInput', 'setStore');
	}
	Plugin(/** @type {never} */ ({ name: 'urlmode', description: 'Sends the URLs of elicitations.' }))(UrlModePlugin);
	sdk = frontmcp;
	return UrlModePlugin;
}

/** @type {typeof makeAdapter<CallFields, import('../adapters/types.js').ToolResult>} */
const make = makeAdapter;

const adapter = make(({ call }) => {
	if (!sdk) throw new TypeError('withElicitation requires urlPlugin() in the plugins of the server');
	// It checks the client's response. In URL mode a client sends none.
	return describeCall(/** @type {ToolLike} */ (call), sdk.z.unknown());
});

export const { withAccount, useAccount, requirePaid, collectInput, askApproval } = adapter;

/**
 * Asks the user to open a page, waits until that is done, and runs the body with what came
 * back, as the function of the other adapters. In place of FrontMCP's `elicit` it names what
 * is bought by the tool and its arguments, unless `item` is given.
 *
 * @template R
 * @template {boolean | undefined} [T=undefined]
 * @template {ElicitOptions['kind']} [K=ElicitOptions['kind']]
 * @param {import('./tool-item.js').WithoutItem<ElicitOptions> & { typed?: T, kind: K }} options the same in all calls for the same thing
 * @param {(accepted: import('../adapters/types.js').AcceptedOf<K>) => R | Promise<R>} body
 * @returns {Promise<R | import('../adapters/types.js').Instead<T, import('../adapters/types.js').ToolResult, R>>} the result of the tool
 */
export async function withElicitation(options, body) {
	const { metadata: { name = '' } = {}, input } = /** @type {ToolLike} */ (options.call);
	return adapter.withElicitation(/** @type {ElicitOptions & { typed?: T, kind: K }} */ (nameItem(options, { name, args: input })), body);
}

/**
 * @param {ToolLike} tool
 * @param {unknown} schema
 * @returns {import('../adapters/types.js').Call}
 */
function describeCall(tool, schema) {
	const { scope, context: { sessionId, authInfo, traceContext } } = tool;
	const isRegistered = () => scope.notifications.getClientCapabilities(sessionId) !== undefined;
	const wasRegistered = isRegistered();
	const isGone = () => wasRegistered && !isRegistered();
	/** @type {{ elicitationId: string, url: string } | undefined} the request whose response FrontMCP waits for */
	let sent;
	/** @type {typeof sent} the one whose wait is being ended */
	let ending;
	/**
	 * Ends FrontMCP's wait, which is the only way from outside. FrontMCP
	 * subscribes after it has sent the request, so a single message can be lost.
	 *
	 * @param {string} id
	 * @param {'accept' | 'cancel'} status
	 */
	const endWait = async (id, status) => {
		const own = sent;
		if (!own || own.elicitationId !== id || own === ending) return;
		ending = own;
		while (sent === own && scope.elicitationStore) {
			await scope.elicitationStore.publishResult(id, sessionId, { status }).catch(() => {});
			await sleep(REPEAT_MS, undefined, { ref: false });
		}
	};
	return {
		// FrontMCP itself asks the users of other clients.
		client: { capabilities: { elicitation: { url: {} } } },
		clientId: authInfo?.clientId,
		// Of the header of the request, or begun by FrontMCP.
		traceparent: traceparentOf({ traceparent: traceContext?.raw }),
		signal: tool.signal,
		typed: tool.metadata?.outputSchema !== undefined,
		async progress(progress, message) {
			// The end of a session does not abort its calls.
			if (isGone()) throw new Error('the session has ended');
			await tool.progress(progress, undefined, message);
		},
		isGone,
		async request({ elicitationId, url, message }, { signal, timeout }) {
			if (signal.aborted) return { action: 'cancel' };
			signal.addEventListener('abort', () => void endWait(elicitationId, 'cancel'), { once: true });
			const own = { elicitationId, url };
			requests.add(own);
			sent = own;
			try {
				const { status } = await tool.elicit(message, schema, { mode: 'url', elicitationId, ttl: timeout });
				return { action: status };
			} catch (error) {
				// FrontMCP shows the message to the model, which passes the link on to the user.
				if (isFallback(error)) Object.assign(error, { elicitMessage: `${message}\n\n${url}` });
				throw error;
			} finally {
				// FrontMCP's answer for this elicitation is not for the next one of the same call.
				tool.context.clearPreResolvedElicitResult();
				sent = undefined;
				requests.delete(own);
			}
		},
		// FrontMCP cannot send the notification that it is completed.
		complete: async (elicitationId) => void endWait(elicitationId, 'accept'),
		isForFramework: isFallback,
	};
}

/**
 * @param {unknown} error
 * @returns {error is Error}
 */
function isFallback(error) {
	return error instanceof Error && 'code' in error && error.code === FALLBACK;
}

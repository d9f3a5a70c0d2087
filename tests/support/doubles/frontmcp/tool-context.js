// FrontMCP's base class of tools. Compared with FrontMCP 1.5.6.

import { randomUUID } from 'node:crypto';

import { FlowState } from './flows.js';

const TTL_MS = 300_000;

/** FrontMCP catches it, and asks by other means. */
export class ElicitationFallbackRequired extends Error {
	code = 'ELICITATION_FALLBACK';

	constructor(elicitId, elicitMessage, ttl) {
		super('Elicitation fallback required');
		Object.assign(this, { elicitId, elicitMessage, ttl });
	}
}

export class ElicitationTimeoutError extends Error {
	code = 'ELICITATION_TIMEOUT';

	constructor(elicitId, ttl) {
		super(`Elicitation request timed out after ${ttl}ms`);
		Object.assign(this, { elicitId, ttl });
	}
}

/** The session's transport sends one elicitation at a time. */
export class Elicitor {
	#cancel;

	constructor(session) {
		this.session = session;
	}

	/** In URL mode it sends no URL. A new elicitation cancels the pending one, and the ttl rejects. */
	async elicit(message, { mode = 'form', ttl = TTL_MS, elicitationId }, requestId) {
		const { scope, flows, id: sessionId, transport } = this.session;
		if (mode === 'url' && !elicitationId) throw new Error('elicitationId is required when mode is "url"');
		this.#cancel?.({ status: 'cancel' });
		const store = scope.elicitationStore;
		const elicitId = elicitationId ?? `elicit-${randomUUID()}`;
		const state = new FlowState({ sessionId, message, mode, ttl, elicitationId });
		await flows.run('elicitation:request', { scope, state }, {
			storePendingRecord: () => store.setPending({ elicitId, sessionId, message, mode, expiresAt: Date.now() + ttl }),
			buildRequestParams: () => state.set('requestParams', {
				mode, message, requestedSchema: {}, ...mode === 'url' && { elicitationId },
			}),
		});
		await transport.send({ jsonrpc: '2.0', id: randomUUID(), method: 'elicitation/create', params: state.requestParams },
			{ relatedRequestId: requestId });
		return this.#wait(store, elicitId, ttl);
	}

	async #wait(store, elicitId, ttl) {
		let cancel;
		let timer;
		const result = new Promise((resolve, reject) => {
			cancel = resolve;
			this.#cancel = resolve;
			timer = setTimeout(() => reject(new ElicitationTimeoutError(elicitId, ttl)), ttl);
		});
		const unsubscribe = await store.subscribeResult(elicitId, cancel);
		console.log(`FrontMCP waits for the answer to ${elicitId}`); // for the tests: until then, a new elicitation cancels nothing
		try {
			return await result;
		} finally {
			clearTimeout(timer);
			if (this.#cancel === cancel) this.#cancel = undefined;
			await unsubscribe();
		}
	}

	/** The client's response, whose request is not looked at. */
	async answer({ action, content }) {
		const { scope, flows, id: sessionId } = this.session;
		const result = { status: action, content };
		const end = this.#cancel;
		await flows.run('elicitation:result', { scope, state: new FlowState({ sessionId }) }, {
			parseInput: () => {},
			publishResult: async () => {
				const pending = await scope.elicitationStore.getPending(sessionId);
				if (pending) await scope.elicitationStore.publishResult(pending.elicitId, sessionId, result);
			},
		});
		end?.(result);
	}
}

export class ToolContext {
	/** @param {{ session: object, extra: object, metadata: object, input: object, preResolved?: object }} call */
	constructor({ session, extra, metadata, input, preResolved }) {
		this.metadata = metadata;
		this.input = input;
		let answer = preResolved;
		this.call = { session, extra };
		this.scope = session.scope;
		this.signal = extra.signal;
		this.context = {
			sessionId: session.id,
			authInfo: { extra: { user: session.user } },
			traceContext: { raw: extra.requestInfo?.headers.traceparent ?? `00-${randomUUID().replaceAll('-', '')}-${randomUUID().replaceAll('-', '').slice(0, 16)}-01` },
			getPreResolvedElicitResult: () => answer,
			clearPreResolvedElicitResult() {
				answer = undefined;
			},
		};
	}

	/** It is sent by the client's GET stream, if the call has a token. */
	async progress(progress, total, message) {
		const { session, extra } = this.call;
		const progressToken = extra._meta?.progressToken;
		if (!progressToken) return false;
		await session.server.notification({ method: 'notifications/progress', params: { progressToken, progress, message } });
		return true;
	}

	async elicit(message, schema, options = {}) {
		const { session, extra } = this.call;
		const preResolved = this.context.getPreResolvedElicitResult();
		if (preResolved) {
			this.context.clearPreResolvedElicitResult();
			return preResolved;
		}
		const { mode = 'form', elicitationId, ttl = TTL_MS } = options;
		if (!this.scope.notifications.getClientCapabilities(session.id)?.elicitation?.[mode]) {
			throw new ElicitationFallbackRequired(elicitationId, message, ttl);
		}
		return session.elicitor.elicit(message, options, extra.requestId);
	}
}

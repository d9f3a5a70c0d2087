// FrontMCP's store of elicitations. Compared with FrontMCP 1.5.6.
//
// pending:{sessionId} and fallback:{elicitId} are keys, result:{elicitId} and
// fallback-result:{elicitId} are channels, all with a prefix.

import { EventEmitter } from 'node:events';

/** Answers the store beside what is known of it. */
export function createElicitationStoreFromStorage(storage, { keyPrefix = 'mcp:elicit:' } = {}) {
	if (!storage.supportsPubSub()) throw new Error('Elicitation requires pub/sub support for cross-node result routing.');
	return { store: new Store(storage.namespace(keyPrefix.replace(/:$/, ''))), type: 'memory', storage, encrypted: false };
}

/** The store of a server by default. */
export function createMemoryStore() {
	const values = new Map();
	const messages = new EventEmitter();
	const view = (prefix) => ({
		get: async (key) => values.get(prefix + key) ?? null,
		set: async (key, value) => void values.set(prefix + key, value),
		delete: async (key) => values.delete(prefix + key),
		publish: async (channel, message) => messages.emit(prefix + channel, message),
		async subscribe(channel, handler) {
			messages.on(prefix + channel, handler);
			return async () => void messages.off(prefix + channel, handler);
		},
		namespace: (name) => view(`${prefix}${name}:`),
	});
	return new Store(view('mcp:elicit:'));
}

/** The events of all sessions, where `transport.eventStore` is enabled. */
export class MemoryEventStore {
	#streams = new Map();

	async storeEvent(stream, message) {
		const events = this.#streams.get(stream) ?? [];
		this.#streams.set(stream, events);
		return `${stream}:${events.push(message)}`;
	}

	async replayEventsAfter(last, { send }) {
		const [, stream, count] = /^(.*):(\d+)$/.exec(last) ?? [];
		const events = this.#streams.get(stream) ?? [];
		for (const [n, message] of events.entries()) if (n >= Number(count)) await send(`${stream}:${n + 1}`, message);
		return stream;
	}
}

class Store {
	#storage;
	#pending;
	#fallback;

	constructor(storage) {
		this.#storage = storage;
		this.#pending = storage.namespace('pending');
		this.#fallback = storage.namespace('fallback');
	}

	async setPending(record) {
		const ttlSeconds = Math.ceil((record.expiresAt - Date.now()) / 1_000);
		if (ttlSeconds > 0) await this.#pending.set(record.sessionId, JSON.stringify(record), { ttlSeconds });
	}

	async getPending(sessionId) {
		return JSON.parse(await this.#pending.get(sessionId));
	}

	async deletePending(sessionId) {
		await this.#pending.delete(sessionId);
	}

	async setPendingFallback(record) {
		const ttlSeconds = Math.ceil((record.expiresAt - Date.now()) / 1_000);
		await this.#fallback.set(record.elicitId, JSON.stringify(record), { ttlSeconds });
	}

	/** Returns it once. */
	async takePendingFallback(elicitId) {
		const record = JSON.parse(await this.#fallback.get(elicitId));
		await this.#fallback.delete(elicitId);
		return record;
	}

	subscribeResult(elicitId, callback) {
		return this.#storage.subscribe(`result:${elicitId}`, (text) => callback(JSON.parse(text)));
	}

	subscribeFallbackResult(elicitId, callback) {
		return this.#storage.subscribe(`fallback-result:${elicitId}`, (text) => callback(JSON.parse(text)));
	}

	async publishFallbackResult(elicitId, result) {
		await this.#storage.publish(`fallback-result:${elicitId}`, JSON.stringify(result));
	}

	async publishResult(elicitId, sessionId, result) {
		await this.#storage.publish(`result:${elicitId}`, JSON.stringify(result));
		await this.deletePending(sessionId);
	}
}

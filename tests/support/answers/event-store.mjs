// An event store in memory, for a transport of either official SDK.

export class EventStore {
	#events = [];

	async storeEvent(stream, message) {
		this.#events.push({ stream, message });
		return `${this.#events.length}`;
	}

	async getStreamIdForEventId(id) {
		return this.#events[id - 1]?.stream;
	}

	async replayEventsAfter(last, { send }) {
		const { stream } = this.#events[last - 1];
		for (const [n, event] of this.#events.entries()) {
			if (n >= Number(last) && event.stream === stream) await send(`${n + 1}`, event.message);
		}
		return stream;
	}
}

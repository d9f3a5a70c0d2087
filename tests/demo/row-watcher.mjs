// What PostgreSQL tells of rows: the same notifications that wake a waiting MCP
// server, for the page to show. It trusts them, which only a demo may.

import { EventEmitter } from 'node:events';

import pg from 'pg';

/** Emits the id of an elicitation, with its new status. */
export class RowWatcher extends EventEmitter {
	#client;

	static async open(databaseUrl) {
		const watcher = new RowWatcher();
		watcher.setMaxListeners(0);
		watcher.#client = new pg.Client({ connectionString: databaseUrl });
		watcher.#client.on('error', () => {}); // the page goes on without
		watcher.#client.on('notification', ({ payload }) => {
			for (const { id, status } of [JSON.parse(payload)].flat()) {
				watcher.emit(id, status);
			}
		});
		await watcher.#client.connect();
		await watcher.#client.query('LISTEN urlmode');
		return watcher;
	}

	/** Calls the callback with each status of this elicitation, until the returned function is called. */
	watch(id, callback) {
		this.on(id, callback);
		return () => this.off(id, callback);
	}

	close() {
		return this.#client.end();
	}
}

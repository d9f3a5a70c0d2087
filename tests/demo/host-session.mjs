// The MCP client session of one page of the demo host, and the state that the
// page shows.

import { EventEmitter } from 'node:events';

import { connectClient } from '../support/mcp.mjs';

// How many milliseconds a page may be disconnected, because a phone shows one tab
// at a time, before its session is abandoned.
const ABSENCE_MAX = 300_000;

const STOPPED = 'You no longer wait for the tool. To go on with what you have begun, start it again.';

/**
 * Emits 'abandoned' when the page has been disconnected too long. `view` is the
 * state that the page shows:
 *
 *     phase        'ready' → 'calling' → 'asked' → 'waiting' → 'done'
 *     tool         the tool that was called last
 *     elicitation  { message, url, host } after the elicitation request
 *     approvalUrl  the link for somebody else, after a call whose decision is theirs
 *     progress     the progress messages of the server, in order
 *     completed    true after notifications/elicitation/complete
 *     result       { text, isError } of the tool
 *     rows         { status, at } for each status that the row had: the first
 *                  when it was created, the others as PostgreSQL told of them
 *     times        { asked, answered, done }: when each phase began
 *
 * Times are in milliseconds since the tool was called.
 */
export class HostSession extends EventEmitter {
	view = { phase: 'ready', progress: [], completed: false, rows: [], times: {} };

	#client;
	#elicitationId;
	#watchedRows;
	#unwatchRow = () => {};
	#began = 0;
	#answer;
	#call;
	#watchers = 0;
	#absence;

	static async open({ url, token, rows }) {
		const session = new HostSession();
		session.#watchedRows = rows;
		session.#client = await connectClient({
			url,
			token,
			onElicit: (params, signal) => session.#ask(params, signal),
			onComplete: (elicitationId) => session.#complete(elicitationId),
		});
		session.#awaitWatcher();
		return session;
	}

	/** Calls the callback with the view now and after every change, until the returned function is called. */
	watch(callback) {
		const show = () => callback(this.view);

		this.#watchers += 1;
		clearTimeout(this.#absence);
		this.on('change', show);
		show();
		return () => {
			this.off('change', show);
			this.#watchers -= 1;
			if (this.#watchers === 0) {
				this.#awaitWatcher();
			}
		};
	}

	/** Calls a tool if none is running. */
	start(tool) {
		if (this.view.phase !== 'ready' && this.view.phase !== 'done') {
			return;
		}
		this.#began = performance.now();
		this.#unwatchRow();
		this.#show({
			phase: 'calling', tool, elicitation: undefined, approvalUrl: undefined, progress: [], completed: false, result: undefined, rows: [], times: {},
		});
		this.#call = new AbortController();
		const { signal } = this.#call;
		this.#client.callTool(tool, {
			signal,
			onProgress: ({ message }) => this.#show({ progress: [...this.view.progress, message] }),
		}).then(
			(result) => this.#finish(result),
			(error) => this.#finish({ text: signal.aborted ? STOPPED : error.message, isError: true }),
		);
	}

	/** Cancels the call. What the user has opened in the browser stays open there. */
	stop() {
		this.#call?.abort();
	}

	/** The user's decision about the elicitation shown: 'accept' or 'decline'. */
	answer(action) {
		this.#answer?.(action);
	}

	async close() {
		clearTimeout(this.#absence);
		this.#unwatchRow();
		this.removeAllListeners();
		await this.#client.close();
	}

	#ask({ elicitationId, url, message }, signal) {
		const { protocol, host } = new URL(url);
		if (protocol !== 'https:' && protocol !== 'http:') {
			return 'cancel';
		}
		this.#elicitationId = elicitationId;
		this.#watchRow(elicitationId);
		this.#show({ phase: 'asked', elicitation: { message, url, host }, times: { ...this.view.times, asked: this.#elapsed() } });

		return new Promise((resolve) => {
			this.#answer = (action) => {
				this.#answer = undefined;
				this.#show({ phase: 'waiting', times: { ...this.view.times, answered: this.#elapsed() } });
				resolve(action);
			};
			signal.addEventListener('abort', () => resolve('cancel'), { once: true });
		});
	}

	#complete(elicitationId) {
		// According to the protocol, a client ignores ids that it does not know.
		if (elicitationId === this.#elicitationId) {
			this.#show({ completed: true });
		}
	}

	#finish({ open, ...result }) {
		this.#answer = undefined;
		const { elicitationId, approvalUrl } = open ?? {};
		if (approvalUrl) {
			// The row is followed after the end of the call: somebody else decides.
			this.#watchRow(elicitationId);
		}
		this.#show({ phase: 'done', result, approvalUrl, times: { ...this.view.times, done: this.#elapsed() } });
	}

	#elapsed() {
		return Math.round(performance.now() - this.#began);
	}

	/** The row is there before its link is. */
	#watchRow(id) {
		this.#unwatchRow();
		if (!this.#watchedRows) {
			return;
		}
		const add = (status) => this.#show({ rows: [...this.view.rows, { status, at: this.#elapsed() }] });
		add('pending');
		this.#unwatchRow = this.#watchedRows.watch(id, add);
	}

	#awaitWatcher() {
		this.#absence = setTimeout(() => this.emit('abandoned'), ABSENCE_MAX).unref();
	}

	#show(change) {
		this.view = { ...this.view, ...change };
		this.emit('change');
	}
}

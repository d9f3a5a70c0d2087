// The api as a server without a package calls it: ten callers, each of which waits for up to a thousand elicitations
// with one call at a time.

import { once } from 'node:events';
import http from 'node:http';
import { setImmediate as gathered } from 'node:timers/promises';

const CALLERS = 10;
const OF_MAX = 1_000;
const FOR_MS = 60_000;
/** How long what is new waits for more of it, before the call that waits is made again. */
const GATHER_MS = 2;

const { URLMODE_API_URL: url, URLMODE_API_KEY: key } = process.env;
const agent = new http.Agent({ keepAlive: true });

/** @returns {{ request: http.ClientRequest, answer: Promise<any> }} */
export function begin(method, body) {
	const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
	const request = http.request(`${url}/v1/${method}`, {
		method: 'POST', agent, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': bytes.length },
	});
	request.end(bytes);
	return { request, answer: readAnswer(method, request) };
}

async function readAnswer(method, request) {
	const [response] = await once(request, 'response');
	const chunks = [];
	for await (const chunk of response) chunks.push(chunk);
	const text = Buffer.concat(chunks).toString();
	if (response.statusCode >= 300) throw new Error(`${method}: ${response.statusCode} ${text}`);
	return JSON.parse(text);
}

class Caller {
	#open = new Map();
	#request;
	#timer;
	#isRunning = false;
	#isNew = false;

	get size() {
		return this.#open.size;
	}

	wait({ id, subject }) {
		return new Promise((resolve, reject) => {
			this.#open.set(id, { id, subject, text: JSON.stringify({ id, subject }), resolve, reject });
			this.#timer ??= setTimeout(() => this.#renew(), GATHER_MS);
		});
	}

	#renew() {
		this.#timer = undefined;
		this.#isNew = true;
		this.#request?.destroy();
		if (!this.#isRunning) void this.#run();
	}

	async #run() {
		this.#isRunning = true;
		while (this.#open.size > 0) {
			this.#isNew = false;
			const { request, answer } = begin('wait', `{"for_ms":${FOR_MS},"of":[${this.#texts().join()}]}`);
			this.#request = request;
			try {
				for (const shown of (await answer).elicitations) this.#take(shown);
			} catch (error) {
				if (!this.#isNew) this.#fail(error);
			}
			// What is waited for in place of those that are over is part of the next call.
			await gathered();
			clearTimeout(this.#timer);
			this.#timer = undefined;
		}
		this.#isRunning = false;
	}

	/** Of each the text is kept: a call repeats all of them. */
	#texts() {
		const texts = [];
		for (const { text } of this.#open.values()) {
			if (texts.push(text) === OF_MAX) break;
		}
		return texts;
	}

	#take(shown) {
		const entry = this.#open.get(shown.id);
		entry.text = JSON.stringify({ id: entry.id, subject: entry.subject, seen: shown.seen });
		if (shown.status !== 'completed') return;
		this.#open.delete(shown.id);
		entry.resolve(shown);
	}

	#fail(error) {
		for (const { reject } of this.#open.values()) reject(error);
		this.#open.clear();
	}
}

export function openApi({ targetUrl, ttlMs }) {
	const callers = Array.from({ length: CALLERS }, () => new Caller());
	// Each is a server of its own: whose wait is over begins the next one.
	const next = () => callers.reduce((least, each) => (each.size < least.size ? each : least));
	return {
		// The program chooses the id.
		create: ({ subject }) => begin('create', { subject, provider: 'demo', kind: 'oauth', target_url: targetUrl, ttl_ms: ttlMs }).answer,
		wait: (elicitation) => next().wait(elicitation),
		close: () => agent.destroy(),
	};
}

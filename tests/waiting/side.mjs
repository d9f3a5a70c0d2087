// SDKs as processes that are driven by lines of JSON. README.md describes what they speak.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { PYTHON, PYTHON_ENV } from '../support/python.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const MOST = ['codes', 'status', 'progress', 'verifier', 'parallel', 'forms'];
const EVERYTHING = [...MOST, 'database'];

/**
 * `has`: what a scenario may need. `without`: it has neither the keys nor connections to PostgreSQL; `members` are what it does
 * not tell of an outcome, and of a payment in a list.
 */
export const SIDES = {
	node: { command: [process.execPath, path('driver.mjs')], has: EVERYTHING },
	python: { command: [PYTHON, path('driver.py')], has: EVERYTHING, env: PYTHON_ENV },
	go: { command: [path('../../build/go/waiting')], has: EVERYTHING },
	http: { command: [process.execPath, path('driver.mjs')], has: MOST, env: { OVER: 'http' }, without: {
		verbs: ['purge', 'ticket'], steps: ['keys', 'breaks', 'silences', 'storm'], settings: true,
		members: { outcome: ['interrupted', 'expected', 'tax', 'refunded_amount'], unclaimed: ['result'] },
	} },
};

/** How much of what a driver has written to its standard error is kept, in characters. */
const LAST_WORDS = 4_000;

export class Driver {
	/** Why the driver has ended by itself, with its last words. */
	failure = undefined;
	#process;
	#calls = new Map();
	#number = 0;
	#ended;
	#isKilled = false;
	/** What every call has from now on. */
	#ending = undefined;
	#lastWords = '';
	#onLate;
	#onRefund;
	#onEvent;

	/**
	 * @param {keyof SIDES} side
	 * @param {{ name: string, env: Record<string, string>, settings?: object, onLate?: (payment: object) => void,
	 *     onRefund?: (refund: object) => void, onEvent?: (event: object) => void }} options
	 *     name: of its connections to PostgreSQL; env: with the variables of a stack; onLate, onRefund, onEvent: for what it reports
	 */
	constructor(side, { name, env, settings = {}, onLate = () => {}, onRefund = () => {}, onEvent = () => {} }) {
		const { command: [program, ...args], env: own } = SIDES[side];
		assert.ok(existsSync(program), `${program} is missing: make test-build`);
		// It may name several hosts, which URL does not read.
		const { URLMODE_DATABASE_URL: url } = env;
		const named = `${url}${url.includes('?') ? '&' : '?'}application_name=${encodeURIComponent(name)}`;
		this.name = name;
		this.side = side;
		this.#onLate = onLate;
		this.#onRefund = onRefund;
		this.#onEvent = onEvent;
		this.#process = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: {
			...process.env, ...env, URLMODE_DATABASE_URL: named, SETTINGS: JSON.stringify(settings), ...own,
		} });
		this.#ended = new Promise((resolve) => {
			this.#process.once('exit', (code, signal) => resolve(signal ?? code));
		});
		this.#process.stdin.on('error', () => {});
		this.#process.stderr.on('data', (said) => {
			process.stderr.write(said);
			this.#lastWords = (this.#lastWords + said).slice(-LAST_WORDS);
		});
		// When all that it has said was read.
		this.#process.once('close', (code, signal) => this.#fail(signal ?? code));
		createInterface({ input: this.#process.stdout }).on('line', (line) => this.#hear(JSON.parse(line)));
	}

	/** What it has not answered, and what it is asked from now on, ends with an error. */
	#fail(how) {
		if (this.#isKilled) return;
		const message = `the driver ${this.name} has ended (${how}): ${this.#lastWords.trim()}`;
		if (how !== 0) this.failure = Object.assign(new Error(message), { code: 'DRIVER_ENDED' });
		this.#ending = { error: { code: 'DRIVER_ENDED', message } };
		for (const call of this.#calls.values()) if (!call.hasEnded) this.#end(call, this.#ending);
	}

	#end(call, { answer, error }) {
		call.hasEnded = true;
		call.resolve({ answer, error });
	}

	#hear({ id, progress, recheck, verify, answer, error, late, refund, event }) {
		const call = this.#calls.get(id);
		if (late) this.#onLate(late);
		else if (refund) this.#onRefund(refund);
		else if (event) this.#onEvent(event);
		else if (progress) call.heard.push(progress);
		else if (verify) call.verified.push(verify);
		else if (recheck) {
			call.rechecks.push(recheck);
			call.onRecheck?.(recheck);
		} else this.#end(call, { answer, error });
	}

	/**
	 * Begins a call. Its `end` resolves to the answer or the error.
	 *
	 * @param {string} verb
	 * @param {object} [options]
	 * @param {(recheck: object) => void} [onRecheck] is told when the recheck function of a wait is called
	 */
	begin(verb, options = {}, onRecheck = undefined) {
		const call = { driver: this, number: this.#number += 1, heard: [], rechecks: [], verified: [], onRecheck, hasEnded: false };
		call.end = new Promise((resolve) => {
			call.resolve = resolve;
		});
		this.#calls.set(call.number, call);
		if (this.#ending) this.#end(call, this.#ending);
		else this.#process.stdin.write(`${JSON.stringify({ id: call.number, do: verb, with: options })}\n`);
		return call;
	}

	/** How many calls have no answer. */
	get open() {
		return [...this.#calls.values()].filter(({ hasEnded }) => !hasEnded).length;
	}

	/** Freezes it, and all its threads have stopped, or lets it go on (SIGSTOP, SIGCONT). */
	signal(name) {
		this.#process.kill(name);
		const { pid } = this.#process;
		while (name === 'SIGSTOP' && !/\) [TZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));
	}

	async kill() {
		this.#isKilled = true;
		this.#process.kill('SIGKILL');
		await this.#ended;
	}

	/** Without an open wait the process ends by itself, and without an error. One that a test has left frozen would never end. */
	async end() {
		this.#process.kill('SIGCONT');
		this.#process.stdin.end();
		assert.equal(await this.#ended, 0, `${this.name} has ended with an error`);
	}
}

// The test bed: a stack with the peers, and pending rows.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { parseKeys } from '../../lib/node/src/core/keys.js';
import { startStack } from '../support/stack.mjs';
import { BIN, FOLDER, ROOT } from './paths.mjs';
import { startPeers } from './peers/peers.mjs';
import { stop } from './processes.mjs';
import { mintElicitations, openState, returnRequest, writeRequests } from './requests.mjs';

/** What a row of the schema is worth: an authorization URL, a sealed verifier. */
const TARGET_URL = 'https://provider.example.com/authorize?client_id=mcp-server-8f2b&response_type=code'
	+ '&redirect_uri=https%3A%2F%2Fcallback.example.com%2Foauth%2Fdemo%2Freturn&scope=openid%20profile%20email'
	+ '&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&nonce=n-0S6_WzA2MjQhZ';

const OWN_TABLE = `
	CREATE SCHEMA bench;
	CREATE TABLE bench.seed (n integer PRIMARY KEY, id uuid, subject text, binding bytea, verifier bytea);
	CREATE TABLE bench.elicitation (
		id uuid PRIMARY KEY, subject text NOT NULL, target_url text NOT NULL,
		status text NOT NULL DEFAULT 'pending', action text, result text,
		expires_at timestamptz NOT NULL, completed_at timestamptz
	) WITH (fillfactor = 50)`;

// In no order: callbacks do not come in the order of the pages in which their
// rows lie.
const FILL = {
	urlmode: `
		INSERT INTO urlmode.elicitation
			(id, provider, kind, subject, binding, requester, target_url, verifier, expires_at)
		SELECT id, 'demo', 'oauth', subject, binding, 'Bench', $3, verifier, now() + interval '1 day'
		FROM bench.seed WHERE n >= $1 AND n < $2 ORDER BY random()`,
	payment: `
		INSERT INTO urlmode.elicitation
			(id, provider, kind, subject, binding, requester, target_url, expected, expires_at)
		SELECT id, 'stripe', 'payment', subject, binding, 'Bench', $3, '{"amount": 4200, "currency": "EUR"}',
			now() + interval '1 day'
		FROM bench.seed WHERE n >= $1 AND n < $2 ORDER BY random()`,
	bench: `
		INSERT INTO bench.elicitation (id, subject, target_url, expires_at)
		SELECT id, subject, $3, now() + interval '1 day'
		FROM bench.seed WHERE n >= $1 AND n < $2 ORDER BY random()`,
};

const TABLE = { urlmode: 'urlmode.elicitation', payment: 'urlmode.elicitation', bench: 'bench.elicitation' };

export class Bed {
	#peers;
	#starting;
	#ends = [];
	#closed;

	/**
	 * It is closed by close(), or when the benchmark is interrupted.
	 *
	 * @param {number} size elicitations
	 */
	static async open(size, { peers = true } = {}) {
		mkdirSync(FOLDER, { recursive: true });
		const bed = new Bed();
		for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
			process.once(signal, () => void bed.close().finally(() => process.exit(1)));
		}
		try {
			bed.#starting = startStack({ name: 'bench', runDir: path.join(FOLDER, 'run'), env: { API: '1' } });
			bed.stack = await bed.#starting;
			// It listens, as a server does: until it is measured.
			await bed.stack.service('stop', 'api');
			await bed.#prepare(size);
			if (peers) {
				await bed.writeReturns(bed.openReturns, 0, size, (elicitation) => ({ bend: () => openState(elicitation) }));
				bed.#peers = await startPeers(bed);
			}
		} catch (error) {
			await bed.close();
			throw error;
		}
		return bed;
	}

	async #prepare(size) {
		const file = this.stack.env.URLMODE_KEYS_FILE;
		this.deployment = {
			keys: parseKeys(readFileSync(file, 'latin1'), file),
			issuer: this.stack.env.URLMODE_DEMO_ISSUER,
		};
		this.port = Number(new URL(this.stack.baseUrl).port);
		this.elicitations = mintElicitations(this.deployment.keys, size);
		await this.sql(OWN_TABLE);
		for (let from = 0; from < size; from += 20_000) {
			const part = this.elicitations.slice(from, from + 20_000);
			await this.sql(`INSERT INTO bench.seed
				SELECT $1 + n, id, subject, binding, verifier
				FROM unnest($2::uuid[], $3::text[], $4::bytea[], $5::bytea[])
					WITH ORDINALITY AS a (id, subject, binding, verifier, n)`,
			[from - 1, ...['id', 'subject', 'binding', 'verifier'].map((name) => part.map((e) => e[name]))]);
		}
		this.returns = path.join(FOLDER, 'returns.requests');
		this.openReturns = path.join(FOLDER, 'returns-open.requests');
		await this.writeReturns(this.returns, 0, size);
	}

	/** PostgreSQL anew, with so much memory for its pages; its default is for the smallest of machines. */
	async giveMemory(size) {
		await this.sql(`ALTER SYSTEM SET shared_buffers = '${size}'`);
		await this.#stopPeers();
		await this.stack.service('stop', 'postgres');
		await this.stack.service('start', 'postgres');
		if (this.#peers) this.#peers = await startPeers(this);
		await this.#programsAreThere();
	}

	sql(text, values) {
		return this.stack.sql(text, values);
	}

	/**
	 * The requests that complete a range of the elicitations.
	 *
	 * @param {(elicitation: object) => object} [change] as returnRequest takes it
	 */
	async writeReturns(file, from, to, change = () => ({})) {
		const { elicitations, deployment } = this;
		await writeRequests(file, function* () {
			for (let n = from; n < to; n++) {
				yield { status: 303, request: returnRequest(deployment, elicitations[n], change(elicitations[n])) };
			}
		}());
	}

	/** One of the peers: { port, … } */
	peer(name) {
		return this.#peers[name];
	}

	/**
	 * Empties a table and fills it with a range of the elicitations, pending.
	 *
	 * @param {'urlmode' | 'payment' | 'bench'} what
	 */
	async fill(what, { from = 0, to = this.elicitations.length, keep = false } = {}) {
		const table = TABLE[what];
		// A payment stays without its elicitation, whose id cannot be created again.
		if (!keep) await this.sql(`TRUNCATE ${table}, urlmode.payment CASCADE`);
		// Rows are created shortly before they are completed: since the last
		// checkpoint.
		await this.sql('CHECKPOINT');
		await this.sql(FILL[what], [from, to, TARGET_URL]);
		await this.sql(`ANALYZE ${table}`);
	}

	/** The names of the FastCGI programs of the callback host. */
	get programs() {
		return readdirSync(path.join(ROOT, 'cgi-bin')).filter((file) => !['api.c', 'console.c'].includes(file)).map((file) => path.basename(file, '.c'));
	}

	/** How many rows are completed, and accepted. */
	async completed(what) {
		const [{ count }] = await this.sql(
			`SELECT count(*)::integer FROM ${TABLE[what]} WHERE status = 'completed' AND action = 'accept'`);
		return count;
	}

	/** Removes a range of the elicitations again. */
	async forget({ from, to }) {
		await this.sql('DELETE FROM urlmode.elicitation WHERE id IN (SELECT id FROM bench.seed WHERE n >= $1 AND n < $2)',
			[from, to]);
		await this.sql('VACUUM urlmode.elicitation');
	}

	/** PostgreSQL anew, with each fsync of its WAL so much longer. */
	async delayFsync(microseconds) {
		const env = microseconds > 0
			? { LD_PRELOAD: path.join(BIN, 'fsync-delay.so'), FSYNC_DELAY_US: String(microseconds) }
			: {};
		await this.stack.service('stop', 'postgres');
		Object.assign(process.env, env);
		try {
			await this.stack.service('start', 'postgres');
		} finally {
			for (const name of Object.keys(env)) delete process.env[name];
		}
		// Their connections are gone, and they do not come back by themselves.
		await this.#stopPeers();
		this.#peers = await startPeers(this);
		await this.#programsAreThere();
	}

	async #programsAreThere() {
		for (let tries = 0; tries < 200; tries++) {
			const { ok } = await fetch(`${this.stack.baseUrl}/healthz`);
			if (ok) return;
			await sleep(50);
		}
		throw new Error('the programs have no database');
	}

	#stopPeers() {
		return Promise.all(Object.values(this.#peers ?? {}).flatMap(({ processes }) => processes.map(stop)));
	}

	/** Has a function called when the bed closes: in the order in which they are given, as node:test does. */
	after(end) {
		this.#ends.push(end);
	}

	close() {
		return this.#closed ??= this.#close();
	}

	async #close() {
		for (const end of this.#ends) await end();
		await this.#stopPeers();
		// A stack that does not start stops itself.
		const stack = await this.#starting.catch(() => undefined);
		await stack?.close();
	}
}

// The real thing: a PostgreSQL of its own, two instances of an MCP server, perhaps in
// different languages, and the connection of the callback programs.

import { connect, createServer } from 'node:net';

import pg from 'pg';
import { UrlMode } from 'urlmode';

import { Cluster } from '../../lib/node/test/support/cluster.js';
import { waitLongerForLocks } from '../../lib/node/test/support/database.js';
import { scratchKeys } from '../../lib/node/test/support/keys.js';
import { internalsOf } from '../../lib/node/src/core/internals.js';
import { KeysFile } from '../../lib/node/src/core/keys.js';
import { digestOfRequest } from '../../lib/node/src/core/digest.js';
import { RESULT_INFO } from '../../lib/node/src/core/contract-seals.js';
import { seal } from '../../lib/node/src/core/seal.js';
import { bindingOf, browserOf } from '../../lib/node/src/core/token.js';
import { startApiServer } from '../support/api-server.mjs';
import { LISTENING } from '../support/locks.mjs';
import { until } from '../support/wait.mjs';
import { Remote } from '../waiting/remote.mjs';
import { Driver } from '../waiting/side.mjs';
import { Follower } from './follower.mjs';
import { itemOf, THINGS } from './history.mjs';
import { GRACE } from './model.mjs';

export const PROVIDER = 'shop';
const BASE = 'https://callback.example';

/** Every time of every row, but for the times of a provider's events, which are compared with each other alone. */
const TIMES = {
	elicitation: ['created_at', 'expires_at', 'opened_at', 'completed_at', 'claimed_at'],
	form: ['expires_at', 'check_until'],
	recheck: ['recheck_at', 'answered_at'],
	payment: ['proven_at', 'claimed_at', 'refunded_at'],
	lease: ['ends_at', 'fulfilled_at', 'given_at'],
	kept_result: ['kept_at'],
	refund: ['received_at', 'changed_at', 'reversed_at', 'refunded_at', 'unclear_at'],
	decision: ['decided_at'],
	event: ['received_at'],
	unknown_event: ['received_at', 'expires_at'],
	ledger: ['entered_at'],
	ledger_consumer: ['leased_until'],
	purge_queue: ['due_at'],
	purge_pass: ['since'],
};

/** What the runner compares, in one query. */
const OBSERVE = `SELECT json_build_object(
	'rows', (SELECT json_agg(json_build_object('id', e.id, 'status', e.status, 'action', e.action, 'reason', e.reason,
			'from', e.completed_from, 'claimed', e.claimed_at IS NOT NULL, 'failedAttempts', e.failed_attempts,
			'rechecks', r.rechecks, 'rechecked', r.rechecked, 'references', r.unproven_references,
			'expires', round(extract(epoch FROM e.expires_at - e.created_at)),
			'closes', round(extract(epoch FROM urlmode.closes_at(e.kind, e.status, e.expires_at, e.grace) - e.created_at)),
			'outcome', r.action, 'late', r.late) ORDER BY e.created_at)
		FROM urlmode.elicitation e
		LEFT JOIN LATERAL urlmode.read(ARRAY[e.id], ARRAY[e.binding::bytea]) r ON true),
	'payments', (SELECT json_agg(json_build_object('reference', p.reference, 'elicitation', p.elicitation, 'amount', p.amount,
			'currency', p.currency, 'checkout', p.checkout, 'matches', p.matches, 'late', p.late, 'claimed', p.claimed_at IS NOT NULL,
			'refunded', p.refunded_at IS NOT NULL, 'back', p.refunded, 'held', p.held,
			'leased', urlmode.is_leased(p.elicitation, p.reference), 'kept', p.result IS NOT NULL) ORDER BY p.proven_at, p.reference)
		FROM urlmode.payment p),
	'refunds', (SELECT json_agg(json_build_object('reference', r.reference, 'payment', r.payment, 'elicitation', r.elicitation)
		ORDER BY r.reference COLLATE "C", r.elicitation) FROM urlmode.refunds() r),
	'disputes', (SELECT json_agg(json_build_object('reference', r.reference, 'state', r.state, 'ended', r.ended) ORDER BY r.reference COLLATE "C")
		FROM urlmode.refund r WHERE r.kind = 'dispute'),
	'unclaimed', (SELECT json_agg(u.reference) FROM urlmode.unclaimed() u),
	'undelivered', (SELECT json_agg(u.reference) FROM urlmode.undelivered() u),
	'counted', (SELECT c.unclaimed FROM urlmode.measure() c),
	'resumed', (SELECT json_agg(r.id) FROM urlmode.resume_for($1, $2, $3, $4, NULL, $5, $6, $7) r)
) AS observed, clock_timestamp() AS at`;

/** By their text, the names of statements that a connection plans once. */
const statements = new Map();

export class Stage {
	instances = [];
	/** Of what was told to go back. */
	#back = new Set();
	/** When it was observed, by the database's clock. */
	#observedAt;
	#ends = [];

	/**
	 * @param {import('node:test').TestContext} t closes it at its end
	 * @param {('node' | 'python' | 'go' | 'http')[]} [languages] of the instances
	 */
	static async open(t, languages = ['node', 'node']) {
		const stage = new Stage();
		stage.languages = languages;
		stage.cluster = await Cluster.start(t);
		stage.keysFile = scratchKeys(t);
		stage.keys = new KeysFile(stage.keysFile);
		stage.admin = await stage.connect();
		stage.admin.on('notification', ({ payload }) => {
			for (const { id, refunded } of [JSON.parse(payload)].flat()) if (refunded) stage.#back.add(id);
		});
		await stage.admin.query('LISTEN urlmode');
		await waitLongerForLocks(stage.admin);
		// To compile what compares takes longer than to compare.
		await stage.admin.query('SET jit = off');
		await Follower.prepare(stage.admin);
		stage.callback = await stage.connect('urlmode_cgi');
		stage.env = { URLMODE_DATABASE_URL: stage.cluster.serverUrl, URLMODE_KEYS_FILE: stage.keysFile, URLMODE_BASE_URL: BASE };
		if (languages.includes('http')) {
			const api = await startApiServer({ databaseUrl: stage.cluster.serverUrl, keysFile: stage.keysFile, baseUrl: BASE });
			Object.assign(stage.env, api.env);
			stage.#ends.unshift(() => api.close());
		}
		await stage.start(0);
		await stage.start(1);
		// Hooks run in the order in which they were set, and the cluster must be the last to go.
		stage.close = () => stage.#close();
		return stage;
	}

	/** A connection that is closed with the stage; an administrator's where no role is given. */
	async connect(role) {
		const client = new pg.Client({ connectionString: this.cluster.adminUrl });
		client.on('error', () => {});
		await client.connect();
		if (role) await client.query(`SET ROLE ${role}`);
		this.#ends.unshift(() => client.end());
		return client;
	}

	async #close() {
		await Promise.all(this.instances.map((instance) => instance.close()));
		for (const end of this.#ends) await end();
	}

	/** Puts a new instance in the place of the one that was there. */
	async start(at) {
		const Made = this.languages[at] === 'node' ? Instance : RemoteInstance;
		this.instances[at] = await Made.start(this.env, this.languages[at], this.admin);
		return this.instances[at];
	}

	/** Why a server that nobody has killed is gone. */
	get failure() {
		return this.instances.find(({ failure }) => failure)?.failure;
	}

	async clear() {
		// Not TRUNCATE, which would lock out what an instance is still doing.
		const emptied = Object.keys(TIMES).reverse().filter((table) => table !== 'purge_pass');
		// An instance that is still at an elicitation has its lock first.
		await this.admin.query(['SELECT FROM urlmode.elicitation ORDER BY id FOR UPDATE', ...emptied.map((table) => `DELETE FROM urlmode.${table}`),
			"UPDATE urlmode.purge_pass SET since = '-infinity', expires_at = '-infinity'"].join(';'));
	}

	/** Time passes: what is in the rows is that much longer ago. */
	async pass(ms) {
		const moved = Object.entries(TIMES).map(([table, columns]) => `UPDATE urlmode.${table} SET ${
			columns.map((column) => `${column} = ${column} - interval '${ms} ms'`)}`);
		await this.admin.query(moved.join(';'));
	}

	/** The timers of the instances do not know of it. */
	async wake(ids) {
		await this.admin.query(`SELECT pg_notify('urlmode', json_build_object('id', id, 'status', 'pending')::text)
			FROM unnest($1::text[]) id`, [ids]);
	}

	/**
	 * Asks as an administrator. What compares asks the same after each step, and to plan it takes longer than to do it: it is planned
	 * once for a connection.
	 */
	async ask(text, values) {
		if (!statements.has(text)) statements.set(text, `model ${statements.size}`);
		return (await this.admin.query({ name: statements.get(text), text, values })).rows;
	}

	async observe(pairs) {
		const [{ observed, at }] = await this.ask(OBSERVE, [
			pairs.map(([user]) => bindingOf(user, '')), pairs.map(() => PROVIDER), pairs.map(([, thing]) => THINGS[thing].kind),
			pairs.map(([, thing]) => (itemOf(thing) ? null : thing)),
			pairs.map(([, thing]) => digestOfRequest({ provider: PROVIDER, ...THINGS[thing], item: itemOf(thing) })),
			pairs.map(([, thing]) => itemOf(thing) ?? null), pairs.map(([, thing]) => JSON.stringify(THINGS[thing].expected) ?? null)]);
		this.#observedAt = at;
		return observed;
	}

	forgetBack() {
		this.#back.clear();
	}

	/** The ids of the elicitations of which money went back since that was forgotten. */
	async toldBack() {
		// What was committed before comes with its answer.
		await this.ask('SELECT');
		return this.#back;
	}

	/** Whether a lease was renewed since it was observed, or is no more. */
	async isRenewed(elicitation, reference, ms) {
		const [{ renewed }] = await this.ask(`SELECT NOT EXISTS (SELECT FROM urlmode.lease l WHERE l.elicitation = $1 AND l.reference = $2
			AND l.ends_at < $3::timestamptz + $4 * interval '1 ms') AS renewed`, [elicitation, reference, this.#observedAt, ms]);
		return renewed;
	}

	/** What the operator's command does. */
	async decide(reference, decision) {
		const { rows } = await this.admin.query('SELECT urlmode.decide_payment($1, $2, $3, $4) AS outcome', [PROVIDER, reference, decision, 'the model']);
		return rows[0].outcome;
	}

	purge() {
		return this.admin.query('SELECT urlmode.purge_results()');
	}

	/** Deletes what has been over for `keep` milliseconds, in small batches. */
	async delete(keep) {
		const batch = () => this.admin.query('SELECT urlmode.purge($1, NULL, 2)::integer AS taken', [keep]);
		while ((await batch()).rows[0].taken > 0);
	}

	// What the callback programs do

	async open(id, user) {
		return this.#outcome(`SELECT outcome FROM urlmode.open(ids => ARRAY[$1::uuid], bindings => ARRAY[$2::bytea],
			providers => ARRAY[$3], browsers => ARRAY[$4::bytea], graces_ms => ARRAY[$5::bigint])`,
		[id, bindingOf(user, ''), PROVIDER, browserOf(user), GRACE]);
	}

	async comeBack(id, user, action, reason) {
		return this.#outcome(`SELECT outcome FROM urlmode.complete(ids => ARRAY[$1::uuid], bindings => ARRAY[$2::bytea],
			providers => ARRAY[$3], actions => ARRAY[$4], reasons => ARRAY[$5], results => ARRAY[$6::bytea])`,
		[id, bindingOf(user, ''), PROVIDER, action, reason, this.#seal(id, user, { code: 'c' })]);
	}

	/** Events of a provider, in one statement. Returns an outcome for each. */
	async events(events, client = this.callback) {
		const column = (name) => events.map((event) => event[name] ?? null);
		const { rows } = await client.query(`SELECT outcome FROM urlmode.receive_events(ids => $1::uuid[], providers => $2::text[],
			identities => $3::text[], types => $4::text[], effects => $5::text[], amounts => $6::bigint[],
			currencies => $7::text[], refs => $8::text[], results => $9::bytea[], refunds => $10::text[], kinds => $11::text[],
			checkouts => $12::text[], details => $13::jsonb[])`,
		[column('id'), events.map(() => PROVIDER), column('identity'), events.map(({ effect }) => `shop.${effect}`),
			events.map(({ row, effect, otherKind }) => (row?.kind === 'signature' && effect === 'paid' && !otherKind ? 'accepted' : effect)), column('amount'), column('currency'), column('reference'),
			events.map(({ id, user, effect, reference, amount, currency }) => (
				effect === 'paid' ? this.#seal(id, user, { reference, amount, currency }) : null)), column('refund'),
			// Of the entry of the provider.
			events.map(({ row, otherKind }) => (otherKind ? (row.kind === 'payment' ? 'oauth' : 'payment') : null)),
		column('checkout'), column('details')]);
		return rows.map(({ outcome }) => outcome);
	}

	async #outcome(text, values) {
		return (await this.callback.query(text, values)).rows[0].outcome;
	}

	#seal(id, user, result) {
		return seal(this.keys, { id, binding: bindingOf(user, ''), use: RESULT_INFO }, JSON.stringify(result));
	}
}

/** A process of the MCP server: a UrlMode whose way to the database can be cut. */
class Instance {
	/** The references of which it was told. */
	late = new Set();
	#server;
	#sockets = new Set();

	static async start({ URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl }) {
		const instance = new Instance();
		const url = new URL(databaseUrl);
		await instance.#relay(Number(url.port));
		url.port = instance.#server.address().port;
		instance.urlmode = new UrlMode({ databaseUrl: url.href, keysFile, baseUrl });
		instance.urlmode.on('late', ({ reference }) => instance.late.add(reference));
		await until('it listens', () => internalsOf(instance.urlmode).listener.receivesNotifications, { every: 1 });
		return instance;
	}

	async #relay(port) {
		this.#server = createServer({ noDelay: true }, (near) => {
			const far = connect({ port, host: '127.0.0.1', noDelay: true });
			near.pipe(far).pipe(near);
			for (const socket of [near, far]) {
				this.#sockets.add(socket);
				socket.on('error', () => {}).on('close', () => {
					near.destroy();
					far.destroy();
					this.#sockets.delete(socket);
				});
			}
		});
		await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
	}

	async close() {
		await this.urlmode.close();
		this.#server.close();
	}

	/** Nothing that it still does reaches the database. */
	die() {
		this.#server.close();
		for (const socket of this.#sockets) socket.destroy();
		this.urlmode.close().catch(() => {});
	}
}

/** A process of its own, in any language, which can be killed. */
class RemoteInstance {
	late = new Set();
	#driver;

	static async start(env, language, admin) {
		const instance = new RemoteInstance();
		const name = `model-${language}-${remoteInstances += 1}`;
		instance.#driver = new Driver(language, {
			name, env, onLate: ({ reference }) => instance.late.add(reference),
		});
		instance.urlmode = new Remote(instance.#driver);
		await instance.urlmode.reportLate();
		// The api listens for those over HTTP.
		if (language !== 'http') await until('it listens', async () => (await admin.query(`${LISTENING} AND application_name = $1`, [name])).rowCount > 0, { every: 5 });
		return instance;
	}

	get failure() {
		return this.#driver.failure;
	}

	async close() {
		if (!this.failure) await this.urlmode.close();
	}

	/** What it waited for is never heard of. */
	die() {
		void this.#driver.kill();
	}
}

let remoteInstances = 0;

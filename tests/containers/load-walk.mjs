// What load.test.mjs does in a root of Debian: two pods of the image, each of whose
// containers has the memory that the chart gives it, under a constant load while one
// thing after another happens. An answer of 502, and a container without memory, fail.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Cluster } from '../install/cluster.mjs';
import { steps } from '../install/image-steps.mjs';
import { ENVIRONMENT, allServe, makeCertificate } from '../install/pod.mjs';
import { until } from '../support/wait.mjs';

const { ROOT, KEYS, URLMODE_DATABASE_URL, URLMODE_PROGRAMS_DATABASE_URL } = process.env;
const AWAY = Number(process.env.AWAY ?? 60); // seconds
const WALKERS = 4;

steps();

/** In front of PostgreSQL, so that the pods' programs can lose it, and nobody else. */
class Way {
	isOpen = true;
	#connections = new Set();
	#server = net.createServer((client) => this.#pass(client));

	async listen(to) {
		this.to = to;
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		return this.#server.address().port;
	}

	#pass(client) {
		if (!this.isOpen) return client.destroy();
		const server = net.connect(this.to);
		for (const [one, other] of [[client, server], [server, client]]) {
			this.#connections.add(one);
			one.on('error', () => other.destroy());
			one.on('close', () => this.#connections.delete(one));
			one.pipe(other);
		}
	}

	cut() {
		this.isOpen = false;
		for (const each of this.#connections) each.destroy();
	}

	close() {
		this.cut();
		this.#server.close();
	}
}

describe('pods with the memory of the chart', () => {
	const way = new Way();
	let cluster;

	before(async () => {
		const url = new URL(URLMODE_PROGRAMS_DATABASE_URL);
		const folder = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
		const port = url.searchParams.get('port') ?? (url.port || '5432');
		const own = await way.listen(folder.startsWith('/') ? { path: `${folder}/.s.PGSQL.${port}` } : { host: folder, port });
		const { username, password, pathname } = url;
		cluster = new Cluster({
			root: ROOT, image: path.join(ROOT, 'image'), keys: KEYS, databaseUrl: URLMODE_DATABASE_URL, limited: true,
			env: { ...ENVIRONMENT, URLMODE_CGI_DATABASE_URL: `postgresql://${username}${password && `:${password}`}@127.0.0.1:${own}${pathname}?sslmode=disable` },
		});
		await cluster.start();
	});

	after(async () => {
		await cluster?.close();
		way.close();
	});

	/** Walks until `what` is done, which is given a function that waits until the walks of before are over; how many. */
	async function underLoad(what) {
		let walked = 0;
		let done = false;
		const walkers = Promise.all(Array.from({ length: WALKERS }, async () => {
			for (; !done; walked++) await cluster.walk();
		}));
		async function walksOfBefore() {
			const enough = walked + 2 * WALKERS;
			await Promise.race([walkers, until('they walk', () => walked >= enough, { timeout: 120_000 })]);
		}
		const doing = (async () => {
			await walksOfBefore();
			await what(walksOfBefore);
			await walksOfBefore();
		})().finally(() => { done = true; });
		await Promise.all([walkers, doing]);
		return walked;
	}

	/** What each container had at most, and that no process of it was killed for want of memory. */
	function assertMemory(t) {
		for (const [at, pod] of cluster.pods.entries()) {
			const used = pod.memory();
			t.diagnostic(`pod ${at}: ${used.map(({ name, peak, limit }) => `${name} ${peak >> 20}/${limit >> 20} MB`).join(', ')}`);
			for (const { name, killed } of used) assert.equal(killed, 0, name);
		}
	}

	const counted = (statuses) => Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((each) => each === status).length]));

	/** A hundred posts at once to one of the pods; how often each status came. */
	async function flood(pod, size) {
		const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL('flood.mjs', import.meta.url)), pod.port, size, '100'].map(String));
		return JSON.parse(stdout);
	}

	for (const [megabytes, size] of [[4, 4 << 20], [1, 1 << 20], [0.15, 150_000]]) {
		test(`a hundred unsigned posts of ${megabytes} MB at once`, async (t) => {
			let statuses;
			const walked = await underLoad(async () => { statuses = await flood(cluster.pods[0], size); });
			t.diagnostic(`${JSON.stringify(statuses)}, ${walked} elicitations meanwhile`);
			assert.deepEqual(Object.keys(statuses).filter((status) => status !== '401' && status !== '503'), []);
			assertMemory(t);
		});
	}

	test('a rolling update', async (t) => {
		const walked = await underLoad(() => cluster.update());
		t.diagnostic(`${walked} elicitations meanwhile`);
		assertMemory(t);
	});

	test('a certificate that is renewed', async () => {
		await underLoad(async (walksOfBefore) => {
			// Its authority is itself: walks that begin from now on trust both.
			const renewed = await makeCertificate(ROOT);
			const before = cluster.certificate;
			cluster.certificate = { ...before, 'tls.crt': renewed['tls.crt'] + before['tls.crt'] };
			await walksOfBefore();
			for (const pod of cluster.pods) pod.mountSecret('certificate', renewed);
			await walksOfBefore();
			cluster.certificate = renewed;
		});
	});

	test(`a database that is away for ${AWAY} seconds: the pods stay ready, and users get the page that tries again`, async (t) => {
		const statuses = [];
		const body = Buffer.alloc(1 << 20, 'x');
		await cluster.walk();
		way.cut();
		const end = performance.now() + AWAY * 1000;
		while (performance.now() < end) {
			for (const pod of cluster.pods) assert.ok(allServe(await cluster.probe(pod)), 'it is ready');
			const [link] = await Promise.all([cluster.urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'ada', targetUrl: 'https://id.example/' })]);
			const [{ status, headers }, post] = await Promise.all([cluster.get(link.url.slice(cluster.base.length)), cluster.get('/webhook/shop', { method: 'POST', body })]);
			statuses.push(status);
			assert.equal(post.status, 401);
			if (status === 503) assert.match(headers.refresh, /^3/);
		}
		way.isOpen = true;
		t.diagnostic(JSON.stringify(counted(statuses)));
		assert.deepEqual(Object.keys(counted(statuses)), ['503']);
		await until('it goes on', async () => cluster.walk().then(() => true, () => false));
		assertMemory(t);
	});
});

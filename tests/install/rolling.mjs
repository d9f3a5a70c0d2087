// A rolling update, which image-walk.mjs runs: pods replace pods under a constant load,
// with the order and the times of kubernetes.yaml, and no request fails. What Kubernetes
// does is played here: the Service is a balancer of connections, and readiness, preStop
// and signals are those of the example.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { UrlMode } from 'urlmode';

import { ENVIRONMENT, NODE_ADDRESS, Pod, allServe, makeCertificate, objects } from './pod.mjs';
import { freePorts } from '../stack/harness.mjs';
import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

const WALKERS = 4;
/** Connections that a pod gets after it was told to end, unless half of nginx's time is over. */
const MEANWHILE = 30;
/** The seconds of the example in milliseconds here, where a node is told sooner. */
const SECOND = 400;

const [deployment] = objects().filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec);
const containers = Object.fromEntries(deployment.template.spec.containers.map((container) => [container.name, container]));
const preStop = (name) => containers[name].lifecycle.preStop.sleep.seconds * SECOND;

/** Passes each new connection to the next of the pods that are its endpoints. */
class Service {
	endpoints = [];
	connections = 0;
	#server = net.createServer((client) => this.#pass(client));

	async listen() {
		this.#server.listen(0, '127.0.0.1');
		await once(this.#server, 'listening');
		return this.#server.address().port;
	}

	close() {
		this.#server.close();
	}

	#pass(client) {
		const n = this.connections++;
		const pod = this.endpoints[n % this.endpoints.length];
		pod.connections = (pod.connections ?? 0) + 1;
		// Each connection is from another client: nginx limits the requests of one.
		const server = net.connect({ port: pod.port, host: '127.0.0.1', localAddress: `127.1.${(n >> 7) & 255}.${(n & 127) + 1}` });
		for (const [one, other] of [[client, server], [server, client]]) {
			one.on('error', () => other.destroy());
			one.pipe(other);
		}
	}
}

export function rolling({ root, image, keys, databaseUrl }) {
	describe('a rolling update', () => {
		const service = new Service();
		const pods = [];
		let base;
		let ca;
		let certificate;
		let config;
		let urlmode;

		/** Starts a pod, which gets connections as soon as it is ready. */
		async function startPod() {
			const [port] = await freePorts(1);
			const pod = new Pod({ image, folder: path.join(root, `pod-${pods.length}`), port });
			pods.push(pod);
			pod.mountSecret('secret', { keys, 'config.json': JSON.stringify(config) });
			pod.mountSecret('certificate', certificate);
			await pod.prepare();
			pod.startPrograms(ENVIRONMENT);
			pod.startNginx();
			const { httpGet: { path: probe } } = containers.nginx.readinessProbe;
			// Kubernetes starts nginx last. Here all start at once.
			await until('it is ready', async () => allServe(
				await request(`https://127.0.0.1:${port}${probe}`, { ca, agent: false, localAddress: NODE_ADDRESS }).catch(() => ({}))), { every: 100 });
			service.endpoints = [...service.endpoints, pod];
			return pod;
		}

		/** Ends a pod: its preStop hooks begin while nodes still send it connections. */
		async function endPod(pod) {
			const nginx = (async () => {
				await sleep(preStop('nginx'));
				assert.equal(await pod.stopNginx(), 0);
			})();
			const programs = (async () => {
				await sleep(preStop('status'));
				assert.deepEqual(await pod.stopPrograms(), Object.keys(pod.programs).map(() => 0));
			})();
			const enough = pod.connections + MEANWHILE;
			await Promise.race([sleep(preStop('nginx') / 2), until('it still gets connections', () => pod.connections >= enough)]);
			service.endpoints = service.endpoints.filter((one) => one !== pod);
			await Promise.all([nginx, programs]);
			pods.splice(pods.indexOf(pod), 1);
		}

		before(async () => {
			base = `https://127.0.0.1:${await service.listen()}`;
			certificate = await makeCertificate(root);
			ca = certificate['tls.crt'];
			config = { base_url: base, keys_file: 'keys', user_check: 'confirm', providers: { demo: { kind: 'oauth', display_name: 'Demo' } } };
			await Promise.all(Array.from({ length: deployment.replicas }, startPod));
			urlmode = new UrlMode({ databaseUrl, keysFile: pods[0].inside('secret/keys'), baseUrl: base, name: 'Tests' });
		});

		after(async () => {
			await urlmode?.close();
			service.close();
			await Promise.all(pods.map(async (pod) => {
				await pod.stopNginx();
				await pod.stopPrograms();
			}));
		});

		/** An elicitation from its link to its outcome, and a request to each other program. */
		async function walk() {
			const browser = new Browser({ ca, keepAlive: false });
			const flow = await goOn(urlmode, browser);
			const [outcome, hop] = await Promise.all([
				urlmode.waitForCompletion(flow.id, flow.owner), comeBack(browser, flow.returnTo({ code: 'the code' })),
			]);
			assert.deepEqual([flow.confirm.status, flow.hop.status, hop.status, outcome.action], [200, 303, 303, 'accept']);
			assert.equal((await browser.open(new URL(hop.location, base))).status, 200);
			for (const [method, route] of [['GET', '/form'], ['GET', '/payment/demo/return'], ['POST', '/webhook/demo']]) {
				const { status } = await request(base + route, { ca, agent: false, method, body: method === 'POST' ? '{}' : undefined });
				assert.ok(status >= 400 && status < 500, `${route}: ${status}`);
			}
			browser.close();
		}

		test('no request fails while new pods take the place of the old ones', async (t) => {
			assert.deepEqual(deployment.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
			let walked = 0;
			let updated = false;
			const walkers = Promise.all(Array.from({ length: WALKERS }, async () => {
				for (; !updated; walked++) await walk();
			}));
			const update = (async () => {
				await until('both pods are walked', () => walked >= 2 * WALKERS);
				const ending = [];
				for (const old of [...pods]) {
					await startPod();
					ending.push(endPod(old));
				}
				await Promise.all(ending);
				const enough = walked + 2 * WALKERS;
				await until('it goes on', () => walked >= enough);
			})().finally(() => { updated = true; });
			await Promise.all([walkers, update]);
			assert.equal(pods.length, deployment.replicas);
			t.diagnostic(`${walked} elicitations, ${service.connections} requests`);
		});
	});
}

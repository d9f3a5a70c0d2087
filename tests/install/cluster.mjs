// Pods of the image behind a service, with the order and the times of kubernetes.yaml.
// What Kubernetes does is played here: the service is a balancer of connections, and
// readiness, preStop and signals are those of the deployment.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { UrlMode } from 'urlmode';

import { ENVIRONMENT, NODE_ADDRESS, Pod, allServe, containers, deployment, makeCertificate } from './pod.mjs';
import { Browser } from '../support/browser.mjs';
import { comeBack, goOn } from '../support/flow.mjs';
import { holdPorts } from '../support/held-ports.mjs';
import { request } from '../support/http.mjs';
import { until } from '../support/wait.mjs';

/** Connections that a pod gets after it was told to end, unless half of nginx's time is over. */
const MEANWHILE = 30;
/** The seconds of the deployment in milliseconds here, where a node is told sooner. */
const SECOND = 400;

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

export class Cluster {
	service = new Service();
	pods = [];
	#options;
	#started = 0;

	/** @param {{ root: string, image: string, keys: string, databaseUrl: string, env?: object, limited?: boolean }} options of the pods' programs */
	constructor(options) {
		this.#options = options;
	}

	/** As many pods as the deployment has. */
	async start() {
		const { root, databaseUrl } = this.#options;
		this.base = `https://127.0.0.1:${await this.service.listen()}`;
		this.certificate = await makeCertificate(root);
		this.config = {
			base_url: this.base, keys_file: 'keys', user_check: 'confirm',
			providers: { demo: { kind: 'oauth', display_name: 'Demo' }, shop: { kind: 'payment', description: 'stripe', secrets: ['whsec_test'] } },
		};
		await Promise.all(Array.from({ length: deployment.replicas }, () => this.startPod()));
		this.urlmode = new UrlMode({ databaseUrl, keysFile: this.pods[0].inside('secret/keys'), baseUrl: this.base, name: 'Tests' });
	}

	async close() {
		await this.urlmode?.close();
		this.service.close();
		await Promise.all(this.pods.map(async (pod) => {
			await pod.stopNginx();
			await pod.stopPrograms();
			pod.forgetMemory();
		}));
	}

	get ca() {
		return this.certificate['tls.crt'];
	}

	/** What the probe of readiness gets. */
	probe(pod) {
		const { httpGet: { path: route } } = containers.nginx.readinessProbe;
		return request(`http://127.0.0.1:${pod.monitoring}${route}`, { agent: false, localAddress: NODE_ADDRESS }).catch(() => ({}));
	}

	/** Starts a pod, which gets connections as soon as it is ready. */
	async startPod() {
		const { root, image, keys, env = ENVIRONMENT, limited } = this.#options;
		const pod = new Pod({ image, folder: path.join(root, `pod-${this.#started++}`), ports: await holdPorts(2), limited });
		this.pods.push(pod);
		pod.mountSecret('secret', { keys, 'config.json': JSON.stringify(this.config) });
		pod.mountSecret('certificate', this.certificate);
		await pod.prepare();
		pod.startPrograms(env);
		pod.startNginx();
		// Kubernetes starts nginx last. Here all start at once.
		await until('it is ready', async () => allServe(await this.probe(pod)), { every: 100 });
		this.service.endpoints = [...this.service.endpoints, pod];
		return pod;
	}

	/** Ends a pod: its preStop hooks begin while nodes still send it connections. */
	async endPod(pod) {
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
		this.service.endpoints = this.service.endpoints.filter((one) => one !== pod);
		await Promise.all([nginx, programs]);
		pod.forgetMemory();
		this.pods.splice(this.pods.indexOf(pod), 1);
	}

	/** Each pod is replaced by another. */
	async update() {
		const ending = [];
		for (const old of [...this.pods]) {
			await this.startPod();
			ending.push(this.endPod(old));
		}
		await Promise.all(ending);
	}

	get(route, options) {
		return request(this.base + route, { ca: this.ca, agent: false, ...options });
	}

	/** An elicitation from its link to its outcome, and a request to each other program. */
	async walk() {
		const browser = new Browser({ ca: this.ca, keepAlive: false });
		const flow = await goOn(this.urlmode, browser);
		const [outcome, hop] = await Promise.all([
			this.urlmode.waitForCompletion(flow.id, flow.owner), comeBack(browser, flow.returnTo({ code: 'the code' })),
		]);
		assert.deepEqual([flow.confirm.status, flow.hop.status, hop.status, outcome.action], [200, 303, 303, 'accept']);
		assert.equal((await browser.open(new URL(hop.location, this.base))).status, 200);
		for (const [method, route] of [['GET', '/form'], ['GET', '/payment/demo/return'], ['POST', '/webhook/demo']]) {
			const { status } = await this.get(route, { method, body: method === 'POST' ? '{}' : undefined });
			assert.ok(status >= 400 && status < 500, `${route}: ${status}`);
		}
		browser.close();
	}
}

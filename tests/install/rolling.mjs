// A rolling update, which image-walk.mjs runs: pods replace pods under a constant load,
// with the order and the times of kubernetes.yaml, and no request fails.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Cluster } from './cluster.mjs';
import { deployment } from './pod.mjs';
import { until } from '../support/wait.mjs';

const WALKERS = 4;

export function rolling(options) {
	describe('a rolling update', () => {
		const cluster = new Cluster(options);

		before(() => cluster.start());
		after(() => cluster.close());

		test('no request fails while new pods take the place of the old ones', async (t) => {
			assert.deepEqual(deployment.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
			let walked = 0;
			let updated = false;
			const walkers = Promise.all(Array.from({ length: WALKERS }, async () => {
				for (; !updated; walked++) await cluster.walk();
			}));
			const update = (async () => {
				await until('both pods are walked', () => walked >= 2 * WALKERS);
				await cluster.update();
				const enough = walked + 2 * WALKERS;
				await until('it goes on', () => walked >= enough);
			})().finally(() => { updated = true; });
			await Promise.all([walkers, update]);
			assert.equal(cluster.pods.length, deployment.replicas);
			t.diagnostic(`${walked} elicitations, ${cluster.service.connections} requests`);
		});
	});
}

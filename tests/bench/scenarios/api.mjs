// The program api, which runs only while it is measured: it listens, and each connection that does is woken by each commit.

import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { pss } from './memory.mjs';

/** @template T @param {import('../bed.mjs').Bed} bed @param {() => Promise<T>} what @returns {Promise<T>} */
export async function withApi(bed, what) {
	await bed.stack.service('start', 'api');
	try {
		for (let tries = 0; (await call(bed, 'wait', {}).catch(() => ({}))).status !== 400; tries++) {
			if (tries === 200) throw new Error('the api does not answer');
			await sleep(50);
		}
		return await what();
	} finally {
		await bed.stack.service('stop', 'api');
	}
}

/** The PSS of the program, MB. */
export const memoryOfApi = async (bed) => ({ size: pss(await pidOfApi(bed)) });

export const pidOfApi = async (bed) => (await bed.stack.program('api')).pid;

/**
 * So many servers wait meanwhile, each with a call of its own, for a row that does not move.
 *
 * @template T
 * @param {import('../bed.mjs').Bed} bed
 * @param {number} count
 * @param {() => Promise<T>} what
 */
export async function withApiWaits(bed, count, what) {
	const agent = new http.Agent({ keepAlive: true });
	const isAnswered = [];
	const waits = await Promise.all(Array.from({ length: count }, async (_, n) => {
		const subject = `waits-${n}`;
		const { body: { id } } = await call(bed, 'create', { subject, provider: 'demo', kind: 'oauth', target_url: 'https://provider.example.com/authorize' });
		const { body: { elicitations: [{ seen }] } } = await call(bed, 'wait', { of: [{ id, subject }], for_ms: 0 });
		return { of: [{ id, subject, seen }], for_ms: 60_000 };
	}));
	for (const body of waits) void call(bed, 'wait', body, agent).then((answer) => isAnswered.push(answer), () => {});
	await sleep(500);
	try {
		const result = await what();
		if (isAnswered.length > 0) throw new Error(`a wait was answered: ${JSON.stringify(isAnswered[0])}`);
		return result;
	} finally {
		agent.destroy();
	}
}

function call({ stack: { env } }, method, body, agent = http.globalAgent) {
	const text = JSON.stringify(body);
	return new Promise((resolve, reject) => {
		http.request(`${env.URLMODE_API_URL}/v1/${method}`, {
			method: 'POST', agent, headers: { authorization: `Bearer ${env.URLMODE_API_KEY}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
		}, async (answer) => {
			const chunks = [];
			for await (const chunk of answer) chunks.push(chunk);
			resolve({ status: answer.statusCode, body: JSON.parse(Buffer.concat(chunks)) });
		}).on('error', reject).end(text);
	});
}

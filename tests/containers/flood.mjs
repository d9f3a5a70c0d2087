// Sends COUNT unsigned webhooks of SIZE bytes at once to a pod, from a process of its own,
// and prints how often each status came:
//
//   node flood.mjs PORT SIZE COUNT

import { request } from '../support/http.mjs';

const [port, size, count] = process.argv.slice(2).map(Number);
const body = Buffer.alloc(size, 'x');
const statuses = {};

await Promise.all(Array.from({ length: count }, async () => {
	const { status } = await request(`https://127.0.0.1:${port}/webhook/shop`, { method: 'POST', body, agent: false, rejectUnauthorized: false, timeout: 300_000 });
	statuses[status] = (statuses[status] ?? 0) + 1;
}));
console.log(JSON.stringify(statuses));

// A paid MCP server on the official TypeScript SDK 2.x: a report that is sold once, summaries that cost a credit each, and
// an analyst for subscribers. Credits are this server's own. They are in tables of its own, whose only source is the ledger.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import pg from 'pg';
import { UrlMode } from 'urlmode';
import { rejectRequestState, requirePaid, withElicitation } from 'urlmode/sdk2';
import { z } from 'zod';

import { createCheckout, isTrusted, ownDatabaseUrl, port, settings, subjectOf } from './app.mjs';

const HOUR = 3_600_000;
const PAID = new Error('the user has paid for this already');
const urlmode = new UrlMode(settings);
const db = new pg.Pool({ connectionString: ownDatabaseUrl }).on('error', console.error);
await db.query(`
	CREATE SCHEMA IF NOT EXISTS reports;
	CREATE TABLE IF NOT EXISTS reports.account (subject text PRIMARY KEY, spent bigint NOT NULL DEFAULT 0);
	CREATE TABLE IF NOT EXISTS reports.purchase (
		provider text, payment text, subject text NOT NULL, credits bigint NOT NULL, price bigint NOT NULL,
		refunded bigint NOT NULL DEFAULT 0, voided boolean NOT NULL DEFAULT false, entry bigint NOT NULL, PRIMARY KEY (provider, payment)
	);
	CREATE OR REPLACE VIEW reports.bought AS
	SELECT subject, sum(CASE WHEN voided THEN 0 ELSE credits * (price - refunded) / price END) AS credits FROM reports.purchase GROUP BY subject;
`);

/** Keeps the credits that were bought. What went back is taken away, also if it was spent: then the balance is below zero. */
async function followLedger() {
	for await (const entry of urlmode.ledger({ consumer: 'credits' })) {
		const [, credits] = /^credits:(\d+)$/.exec(entry.item ?? '') ?? [];
		if (!credits || !entry.payment || !entry.subject) continue;
		// Each entry is one statement, so that it is done or not done. It may come again, and a process that stood still
		// may be behind the next one: what was done up to a later entry stays.
		if (entry.type === 'paid' || entry.type === 'late') {
			await db.query(`
				WITH known AS (INSERT INTO reports.account (subject) VALUES ($3) ON CONFLICT DO NOTHING)
				INSERT INTO reports.purchase (provider, payment, subject, credits, price, entry) VALUES ($1, $2, $3, $4, $5, $6)
				ON CONFLICT DO NOTHING`, [entry.provider, entry.payment, entry.subject, credits, entry.amount, entry.number]);
		} else {
			// The entry says how much has gone back by then: by refunds, and by disputes that are open or lost.
			await db.query(`
				UPDATE reports.purchase SET payment = $2, refunded = $4, voided = $5 = 'voided', entry = $6
				WHERE provider = $1 AND payment IN ($2, $3) AND entry < $6`,
			[entry.provider, entry.payment, entry.checkout, entry.refunded, entry.type, entry.number]);
		}
	}
}

/**
 * Takes a credit: in one statement, so that two calls never take the same.
 *
 * @param {string} subject
 * @returns {Promise<number | undefined>} how many are left, or undefined: there was none
 */
async function takeCredit(subject) {
	const { rows } = await db.query(`
		UPDATE reports.account a SET spent = a.spent + 1 FROM reports.bought b
		WHERE a.subject = $1 AND b.subject = a.subject AND a.spent < b.credits RETURNING (b.credits - a.spent)::integer AS left`, [subject]);
	return rows[0]?.left;
}

/** Credits that were paid while no call waited are there: nothing is left to deliver, and the next call sells more. */
async function settle() {
	for (const { elicitationId, item, subject, session, reference, matches, held, provenAt } of await urlmode.unclaimed()) {
		// A call may be about to claim the newest. About what does not match, or is held, the operator decides: `urlmode events --unclaimed`.
		if (!item?.startsWith('credits:') || !matches || held || Date.now() - provenAt.getTime() < HOUR) continue;
		const claim = await urlmode.beginClaim(elicitationId, { subject, session, reference });
		if (claim.state === 'begun') await claim.end('delivered');
	}
}

/** @param {string} said @param {boolean} [isError] */
const text = (said, isError = false) => ({ content: [{ type: /** @type {const} */ ('text'), text: said }], isError });

/** @param {string} subject */
function createReports(subject) {
	const server = new McpServer({ name: 'reports', version: '1.0.0' });
	const offer = { urlmode, server, subject, provider: 'stripe', kind: /** @type {const} */ ('payment'), targetUrl: createCheckout };

	const year = z.object({ year: z.number().int() });
	server.registerTool('read_report', { description: 'The report of a year, for 10.50 EUR.', inputSchema: year }, async (wanted, call) => {
		const item = `report:${wanted.year}`;
		const report = text(`In ${wanted.year} everything went well.`);
		// Here, where there is nothing to go on with: another call may deliver at this moment what was paid.
		const targetUrl = async (/** @type {Parameters<typeof createCheckout>[0]} */ made) => {
			if (await urlmode.paid({ subject, item, delivered: true })) throw PAID;
			return createCheckout(made);
		};
		return withElicitation({
			...offer, call, item, targetUrl, expected: { amount: 1050, currency: 'EUR' }, message: `The report of ${wanted.year} costs 10.50 EUR.`,
		}, () => report).catch((error) => {
			if (error === PAID) return report;
			throw error;
		});
	});

	server.registerTool('buy_credits', { description: 'Buys 1000 credits, for 10.00 EUR.' }, (call) => withElicitation({
		...offer, call, item: 'credits:1000', expected: { amount: 1000, currency: 'EUR' }, message: '1000 credits cost 10.00 EUR.',
	}, ({ reference }) => text(`1000 credits were bought with ${reference}. They can be used in a moment.`)));

	server.registerTool('summarize', { description: 'A summary, for one credit.' }, async () => {
		const left = await takeCredit(subject);
		return left === undefined ? text('The user has no credit left: call buy_credits.', true) : text(`All is well. ${left} credits are left.`);
	});

	const { kind, ...subscription } = offer;
	server.registerTool('ask_analyst', { description: 'Asks the analyst, for 20.00 EUR a month.' }, (call) => requirePaid({
		...subscription, call, item: 'analyst', expected: { amount: 2000, currency: 'EUR' }, message: 'The analyst costs 20.00 EUR a month.',
	}, ({ status, until }) => text(`Buy low, sell high. (${status} until ${until?.toISOString() ?? 'further notice'})`)));
	return server;
}

const mcp = createMcpHandler(({ authInfo }) => createReports(String(authInfo?.extra?.subject)));
const handle = toNodeHandler({ fetch: rejectRequestState(mcp.fetch) });
const http = createServer((request, response) => {
	if (!isTrusted(request.headers)) return void response.writeHead(403).end();
	const subject = subjectOf(request.headers.authorization);
	if (!subject) return void response.writeHead(401).end();
	return handle(Object.assign(request, { auth: { token: '', clientId: '', scopes: [], extra: { subject } } }), response);
});
http.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (http.address()).port}/mcp`));

let isStopped = false;
const settling = setInterval(() => void settle().catch(console.error), HOUR);
process.once('SIGTERM', async () => {
	isStopped = true;
	clearInterval(settling);
	http.close();
	await urlmode.close();
	await mcp.close();
	http.closeAllConnections();
	await db.end();
});
void settle().catch(console.error);
// A loop that throws leaves its entry to the next one.
while (!isStopped) await followLedger().catch((error) => sleep(1_000, console.error(error)));

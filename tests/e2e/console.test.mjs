// The console through nginx: who may, what its pages say, what they never say, and the
// decisions. The rows are made by the SDK and by signed deliveries.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { Console, HOSTILE, hold, OPERATOR, pay } from '../support/console.mjs';
import { openFixture } from '../support/fixture.mjs';
import { comeBack } from '../support/flow.mjs';
import { openForms } from '../support/forms.mjs';
import { until } from '../support/wait.mjs';

const PAGE_MAX = 40_000; // bytes
const [{ compared: COMPARED }, TEXTS] = ['providers/stripe', 'pages/en'].map((name) => JSON.parse(readFileSync(new URL(`../../lib/${name}.json`, import.meta.url), 'utf8')));
const PAGES = ['/console/', '/console/search?q=report', '/console/list?what=unclaimed', '/console/list?what=held', '/console/list?what=undelivered', '/console/list?what=unreadable',
	'/console/list?what=unknown', '/console/list?what=approvals', '/console/list?what=reconnect', '/console/provider', '/console/provider?name=stripe'];

let fixture;
let site;
let paid;
let held;

before(async () => {
	fixture = await openFixture({ name: 'console', own: true, env: { CONSOLE: '1' } });
	site = fixture.closeAtEnd(new Console(fixture.stack));
	paid = await pay(fixture);
	held = await hold(fixture, { item: 'video' });
	await until('the console serves', async () => (await site.ask('/console/')).status === 200);
});

after(() => fixture?.close());

/** What no page shows, by table. */
const SECRETS = {
	elicitation: ['result', 'verifier', 'session', 'binding', 'browser', 'request', 'target_url'], form: ['definition', 'problem', 'typed'], account: ['tokens'],
};

const elicitation = ({ id }) => `/console/elicitation?id=${id}`;

describe('who may', () => {
	test('an operator; everybody else is refused and told as whom, and nobody else is named', async () => {
		for (const page of [...PAGES, elicitation(paid)]) {
			assert.equal((await site.ask(page)).status, 200, page);
			const { status, text } = await site.ask(page, { user: 'eve' });
			assert.equal(status, 403, page);
			assert.match(text, /<code>not_operator<\/code>/);
			// The id of the request is any hexadecimal digits.
			const words = text.replace(/<code>[0-9a-f]{32}<\/code>/, '').replace('You are signed in as <strong><bdi>eve</bdi></strong>', 'signed in');
			assert.ok(words.includes('<p>signed in. If that is not you'), words);
			for (const name of ['eve', OPERATOR, 'grace', 'stripe']) assert.ok(!words.includes(name), name);
		}
	});

	test('without a user the web server is not set up, and a session of somebody else is none', async () => {
		assert.deepEqual(await site.refusal('/console/', { user: '' }), [500, 'sign_in_not_set_up']);
		const { cookie } = await site.ask('/console/', { user: 'grace', headers: { Cookie: '' } });
		assert.match(cookie, new RegExp(`^__Host-urlmode-console-${new URL(site.url).port}=[\\w-]+; Path=/; Max-Age=28800; Secure; HttpOnly; SameSite=Lax$`));
		const { status } = await site.ask('/console/', { user: 'eve', headers: { Cookie: cookie.split(';')[0] } });
		assert.equal(status, 403);
	});

	test('the callback host has no such page', async () => {
		for (const page of PAGES) assert.equal((await fetch(fixture.url(page))).status, 404, page);
	});

	test('its login cannot read what no page shows', async () => {
		const { default: pg } = await import('pg');
		const client = new pg.Client({ connectionString: fixture.stack.env.URLMODE_OPERATOR_DATABASE_URL });
		await client.connect();
		try {
			for (const [table, columns] of Object.entries(SECRETS)) {
				for (const column of columns) await assert.rejects(client.query(`SELECT ${column} FROM urlmode.${table}`), { code: '42501' }, column);
			}
		} finally {
			await client.end();
		}
	});
});

describe('its pages', () => {
	test('are small, are never kept, and have no script and nothing of others', async () => {
		for (const page of [...PAGES, elicitation(paid), elicitation(held)]) {
			const { text, headers } = await site.ask(page);
			assert.ok(Buffer.byteLength(text) < PAGE_MAX, `${page}: ${Buffer.byteLength(text)}`);
			assert.equal(headers.get('cache-control'), 'no-store');
			assert.match(headers.get('content-security-policy'), /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/);
			assert.doesNotMatch(text, /<script|<link|<img|<iframe| style=| on\w+=|https?:/);
		}
	});

	test('the charts have each kind, action and reason, by hour and by day, and stay small', async () => {
		const { text: before } = await site.ask('/console/');
		assert.doesNotMatch(before, /class="bars"/);
		await fixture.stack.sql(`INSERT INTO urlmode.ended_count (provider, unit, begins_at, kind, action, reason, number)
			SELECT 'stripe', u.unit, date_trunc(u.unit, now(), 'UTC') - n * u.length, 'payment', 'cancel', rpad('reason_' || r || '_', 64, 'x'), 1000000 + r
			FROM (VALUES ('hour', interval '1 hour', 24), ('day', interval '24 hours', 30)) AS u (unit, length, times) CROSS JOIN generate_series(0, u.times - 1) AS n,
				generate_series(1, 15) AS r`);
		try {
			const { text } = await site.ask('/console/');
			for (const [title, number] of [['24 hours', 24], ['30 days', 30]]) {
				const [chart] = new RegExp(`<h2[^>]*>How elicitations ended in ${title}.*?</section>`, 's').exec(text);
				const drawn = [...chart.matchAll(/<td class="bars"><svg [^>]*><path class="(cancel|others)" d="([^"]*)"/g)];
				assert.deepEqual(drawn.map(([, action, bars]) => [action, bars.split('M').length - 1]), [...Array.from({ length: 8 }, () => ['cancel', number]), ['others', number]]);
				// Fifteen of a million, and 1 to 15; the eight with the most, and the others.
				const sums = Array.from({ length: 8 }, (of, i) => 1_000_015 - i);
				const row = [0, 0, 15_000_120, ...sums, 7_000_028].map((sum) => `<td>${sum}`).join('');
				assert.equal(chart.split(`${row}</tr>`).length - 1, number);
			}
			assert.ok(Buffer.byteLength(text) < PAGE_MAX, `${Buffer.byteLength(text)}`);
			assert.ok(Buffer.byteLength((await site.ask('/console/provider?name=stripe')).text) < PAGE_MAX);
		} finally {
			await fixture.stack.sql('DELETE FROM urlmode.ended_count');
		}
	});

	test('the overview counts what waits, and leads to each list', async () => {
		const { text } = await site.ask('/console/');
		for (const [what, number] of [['unclaimed', 1], ['held', 1], ['undelivered', 0]])
			assert.match(text, new RegExp(`href="/console/list\\?what=${what}"><strong>${number}</strong>`));
		assert.match(text, /No check was recorded/);
	});

	test('search finds by id, user, item and reference, exactly', async () => {
		const searched = async (term) => (await site.ask(`/console/search?${new URLSearchParams({ q: term })}`)).text;
		for (const term of [paid.id, ` ${paid.id.toUpperCase()} `, paid.payment.owner.subject, 'report', paid.reference]) assert.ok((await searched(term)).includes(`id=${paid.id}"`), term);
		for (const term of ['repor', 'Report', randomUUID(), 'x'.repeat(4_000)]) assert.match(await searched(term), /Nothing has exactly this text/);
		assert.doesNotMatch(await searched(''), /Nothing has/);
	});

	test('a timeline has what happened in its order, and says what to do', async () => {
		const { text } = await site.ask(elicitation(held));
		const seen = [...text.matchAll(/<li class="\w+"><time datetime="[^"]+">[^<]*<\/time>([^<]*)/g)].map(([, what]) => what.trim());
		assert.equal(seen[0], 'Created');
		for (const what of ['Message of the provider', 'Paid', 'Disputed', 'Held: no call is offered it', 'Ended']) assert.ok(seen.includes(what), `${what}: ${seen}`);
		assert.match(text, /A payment is held: decide below/);
		assert.match(text, /EUR\u00a010\.50/);
		assert.match((await site.ask(elicitation(paid))).text, /It is paid, and nothing was handed over for it yet/);
	});

	test('a long timeline ends with the newest, and says that earlier entries are not shown', async () => {
		const of = await pay(fixture, { item: 'long' });
		await fixture.stack.sql(`INSERT INTO urlmode.event (provider, identity, type, elicitation, received_at, action)
			SELECT 'stripe', $1 || i, 'type ' || i, $1::uuid, clock_timestamp() + i * interval '1 second', 'ignored' FROM generate_series(100, 220) AS i`, [of.id]);
		const { text } = await site.ask(elicitation(of));
		const entries = text.split('<li class="').slice(1);
		assert.match(entries[0], /Earlier entries are not shown/);
		assert.match(entries.at(-1), /type 220/);
		assert.doesNotMatch(text, /type 100/);
		assert.ok(entries.length > 40 && entries.length <= 81, `${entries.length}`);
		assert.ok(Buffer.byteLength(text) < PAGE_MAX);
		assert.doesNotMatch((await site.ask(elicitation(paid))).text, /Earlier entries/);
	});

	test('nothing secret is on any of them', async () => {
		const { stack, urlmode } = fixture;
		const owner = { subject: 'zoe', session: 'the session of zoe' };
		// An account, whose code came back to its PKCE verifier.
		const browser = fixture.browser();
		const account = await fixture.goOn(browser, { ...owner, pkce: true });
		await comeBack(browser, account.returnTo({ code: 'the-code-of-zoe' }));
		const { codeVerifier } = await urlmode.waitForCompletion(account.id, owner);
		// What was typed: once as the result, and once as what is still to be verified, with what is wrong with it.
		const forms = await openForms(stack);
		const form = { title: 'Key', fields: [{ name: 'api_key', type: 'secret', label: 'Key' }] };
		const [input, verified] = [await forms.create({ subject: 'zoe', form }), await forms.create({ subject: 'zoe', form, verify: 30_000 })];
		for (const each of [input, verified]) {
			assert.equal((await forms.send(await forms.visit(each), { 'field.api_key': 'what zoe has typed', answer: 'submit' })).status, 303);
		}
		await forms.end(verified, await forms.take(verified), { field: 'api_key', problem: 'a problem of zoe' });
		const approval = await forms.create({ kind: 'approval', subject: 'zoe', form: { title: 'Zoe asks for money' }, approvers: [] });
		await stack.sql(`INSERT INTO urlmode.account (subject, provider, account, state, reason, scopes, requested, tokens)
			VALUES ('zoe', 'mail', 'zoe@mail', 'reconnect', 'refused', '{}', '{}', convert_to('the refresh token of zoe, as it is sealed', 'UTF8'))`);

		const plain = ['the-code-of-zoe', codeVerifier, 'what zoe has typed', 'a problem of zoe', owner.session, 'the refresh token', account.state, 'checkout.example',
			...[account.url, input.url, verified.url, paid.payment.url].map((url) => new URL(url).searchParams.get('state'))];
		const stored = [];
		for (const [table, columns] of Object.entries(SECRETS)) {
			for (const column of columns) {
				const rows = await stack.sql(`SELECT DISTINCT ${column} AS value FROM urlmode.${table} WHERE ${column} IS NOT NULL`);
				const values = rows.map(({ value }) => value).filter((value) => value.length > 3);
				assert.ok(values.length > 0, `there is no ${column}`);
				stored.push(...values.flatMap((value) => (Buffer.isBuffer(value) ? ['hex', 'base64', 'base64url', 'latin1'].map((encoding) => value.toString(encoding)) : [value])));
			}
		}
		assert.ok(plain.every((value) => value?.length > 8), `${plain}`);
		const lists = PAGES.filter((page) => page.includes('/list?'));
		const pages = [...PAGES, ...lists.map((page) => `${page}&format=csv`), ...[paid, held, account, input, verified, approval].map(elicitation), '/console/search?q=zoe',
			...['demo', 'intake', 'approvals', 'mail'].map((name) => `/console/provider?name=${name}`),
			...['release', 'void', 'refunded'].map((action) => `/console/act?${new URLSearchParams({ action, id: held.id, provider: 'stripe', reference: held.reference })}`)];
		let shown = 0;
		for (const page of pages) {
			const { status, text } = await site.ask(page);
			assert.equal(status, 200, page);
			if (text.includes('zoe')) shown += 1;
			for (const secret of [...plain, ...stored]) assert.ok(!text.includes(secret), `${page}: ${secret}`);
		}
		assert.ok(shown >= 7, `zoe is on ${shown} pages`);
	});

	test('a provider has its last delivery, what it sent by type and was refused by reason, and when its description was compared', async () => {
		await fixture.stack.sql(`INSERT INTO urlmode.event_count (provider, unit, begins_at, type, action, number, last_at)
			SELECT 'stripe', 'day', date_trunc('day', now(), 'UTC'), 'charge.refunded', 'ignored', 4321, now()`);
		await fixture.stack.sql(`INSERT INTO urlmode.unreadable_delivery (provider, digest, reason, place, request, times)
			VALUES ('stripe', decode(md5('x'), 'hex'), 'body_malformed', '/type', 'r', 8765)`);
		try {
			const { text } = await site.ask('/console/provider?name=stripe');
			const cells = (id) => new RegExp(`id="${id}".*?</table>`, 's').exec(text)?.[0] ?? '';
			assert.match(text, /<dt>Last delivery<\/dt>\s*<dd><time datetime=/);
			assert.match(text, /<dt>Last unreadable delivery<\/dt>\s*<dd><time datetime=/);
			assert.match(text, new RegExp(`<dt>Description compared with its source</dt>\\s*<dd>${COMPARED}</dd>`));
			assert.match(cells('events'), /charge\.refunded[^]*ignored[^]*4321/);
			assert.match(cells('refusals'), /body_malformed[^]*8765/);
			assert.match((await site.ask('/console/provider')).text, /href="[^"]*name(=|&#61;)stripe"/);
		} finally {
			await fixture.stack.sql("DELETE FROM urlmode.event_count; DELETE FROM urlmode.unreadable_delivery WHERE provider = 'stripe'");
		}
	});

	test('the overview has the last check of each host', async () => {
		await fixture.stack.sql("SELECT urlmode.record_check('callback-1', 3, 41)");
		const { text } = await site.ask('/console/');
		assert.doesNotMatch(text, /No check was recorded/);
		assert.match(text, /callback-1[^]*?<td[^>]*>3<[^]*?<td[^>]*>41</);
	});

	test('search says so when there is more', async () => {
		const searched = async () => (await site.ask('/console/search?q=crowd')).text;
		const found = (text) => text.match(/elicitation\?id=/g).length;
		for (let i = 0; i < 25; i++) await fixture.createPayment('stripe', { item: 'crowd' });
		const all = await searched();
		assert.equal(found(all), 25);
		assert.doesNotMatch(all, /There are more than these/);
		await fixture.createPayment('stripe', { item: 'crowd' });
		const some = await searched();
		assert.equal(found(some), 25);
		assert.match(some, /There are more than these/);
	});

	test('each language has its own words', async () => {
		for (const [language, title] of [['de', 'Übersicht'], ['ar', 'نظرة عامة'], ['ja', '概要']]) {
			const { text } = await site.ask('/console/', { headers: { 'Accept-Language': language } });
			assert.match(text, new RegExp(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`));
			assert.match(text, new RegExp(`<h1>${title}</h1>`));
		}
	});
});

describe('what others wrote', () => {
	test('never becomes markup, a link, another direction or a formula', async () => {
		const payment = await pay(fixture, { subject: HOSTILE, item: `${HOSTILE}${'é'.repeat(40)}` });
		await payment.send({ type: `${HOSTILE.slice(0, 60)}${'x'.repeat(60)}`, data: { object: { client_reference_id: payment.id } } });
		const noted = await hold(fixture, { item: 'noted' });
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('void', noted), note: HOSTILE } })).status, 303);
		const pages = [elicitation(payment), elicitation(noted), `/console/search?${new URLSearchParams({ q: HOSTILE })}`, '/console/list?what=unclaimed'];
		for (const page of pages) {
			const { status, text } = await site.ask(page);
			assert.equal(status, 200, page);
			assert.ok(text.includes('&lt;img src=x onerror='), page);
			assert.doesNotMatch(text, /<img|<script|\u202e|\u2066/);
			assert.ok(Buffer.byteLength(text) < PAGE_MAX);
		}
		const { text } = await site.ask('/console/list?what=unclaimed&format=csv');
		assert.match(text, /"'=cmd\|""<img/);
		assert.doesNotMatch(text, /(^|,)"?[=+@-]|\u202e/m);
	});
});

describe('lists', () => {
	test('have filters, pages and the same as CSV; a cursor is of its list and its filters', async () => {
		await Promise.all(Array.from({ length: 22 }, () => pay(fixture, { item: 'many' })));
		const { text } = await site.ask('/console/list?what=unclaimed&provider=stripe');
		const cursorOf = (page) => /href="([^"]*cursor[^"]*)"/.exec(page)?.[1].replaceAll(/&#(\d+);/g, (all, code) => String.fromCodePoint(code)).replaceAll('&amp;', '&');
		const next = cursorOf(text);
		assert.equal(text.match(/elicitation\?id=/g).length, 20);
		const second = (await site.ask(next)).text;
		const ids = (page) => [...page.matchAll(/elicitation\?id=([\w-]+)/g)].map(([, id]) => id);
		assert.equal(new Set([...ids(text), ...ids(second)]).size, 20 + ids(second).length);

		const csv = await site.ask('/console/list?what=unclaimed&format=csv');
		assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
		assert.match(csv.headers.get('content-disposition'), /^attachment;/);
		assert.match(csv.text, /^at,elicitation,provider_name,tenant_name,item,reference,amount,refunded,currency\r\n/);
		assert.match(csv.text, new RegExp(`"${paid.id}","stripe","","report","${paid.reference}",10\\.50,0\\.00,"EUR"\r\n`));
		assert.match((await site.ask('/console/list?what=unclaimed&provider=others')).text, /There is nothing here/);
		assert.match((await site.ask('/console/list?what=unclaimed&tenant=acme')).text, /There is nothing here/);
		assert.match((await site.ask('/console/list?what=unclaimed&until=2020-01-01')).text, /There is nothing here/);

		const changed = [next.replace('stripe', 'others'), next.replace('unclaimed', 'held'), next.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')), '/console/list?what=held&cursor=1'];
		for (const path of changed) assert.deepEqual(await site.refusal(path), [400, 'cursor_invalid'], path);
	});

	test('what is none of their words is refused', async () => {
		for (const path of ['list', 'list?what=others', 'list?what=held&since=yesterday', 'list?what=held&until=2026-02-31', 'list?what=held&format=xml', 'list?what=held&more=1',
			'elicitation', 'elicitation?id=1', `elicitation?id=${'a'.repeat(36)}`, 'provider?nam=x', 'act?action=void', `act?action=burn&id=${paid.id}&provider=stripe&reference=x`])
			assert.deepEqual(await site.refusal(`/console/${path}`), [400, 'filter_invalid'], path);
		assert.deepEqual(await site.refusal(`/console/elicitation?id=${randomUUID()}`), [404, 'unknown_here']);
		assert.deepEqual(await site.refusal(`/console/act?action=void&id=${paid.id}&provider=stripe&reference=other`), [404, 'unknown_here']);
		assert.deepEqual(await site.refusal('/console/other'), [404, 'unknown_route']);
		assert.deepEqual(await site.refusal('/console/', { method: 'DELETE' }), [405, 'method_not_allowed']);
		assert.deepEqual(await site.refusal('/console/list?what=held&what=held'), [400, 'duplicate_parameter']);
	});
});

describe('a decision', () => {
	const decisions = (of) => fixture.stack.sql('SELECT decision, decided_by, note FROM urlmode.decision WHERE reference = $1 ORDER BY decided_at', [of.reference]);

	test('releases, voids and records a refund, with who and why, as the command does', async () => {
		const of = await hold(fixture);
		for (const [action, decision] of [['release', 'released'], ['void', 'voided'], ['release', 'released']]) {
			if (action === 'void') await of.send({ type: 'charge.dispute.funds_withdrawn', data: { object: {
				id: `dp2_${of.reference}`, object: 'dispute', payment_intent: of.reference, amount: 100, currency: 'eur', metadata: {} } } });
			const form = await site.actionForm(action, of);
			const { status, headers } = await site.ask('/console/act', { form: { ...form, note: ` because of ${action} ` } });
			assert.equal(status, 303);
			assert.equal(headers.get('location'), `/console/elicitation?id=${of.id}&done=${action}`);
			assert.deepEqual((await decisions(of)).at(-1), { decision, decided_by: OPERATOR, note: `because of ${action}` });
			assert.match((await site.ask(headers.get('location'))).text, new RegExp(`role="status">(Released|Voided)[^]*because of ${action}`));
		}
		const form = await site.actionForm('refunded', of);
		const { status, headers } = await site.ask('/console/act', { form: { ...form, note: 'paid back by hand', refund: 're_1' } });
		assert.equal(status, 303);
		assert.match((await site.ask(headers.get('location'))).text, /re_1/);
		assert.deepEqual(await site.refusal('/console/act', { form: { ...form, note: 'again', refund: 're_1' } }), [409, 'payment_changed']);
		assert.deepEqual(await site.refusal('/console/act', { form: { ...await site.actionForm('refunded', of), note: 'again', refund: 're_1' } }), [409, 'already_refunded']);
	});

	test('releases an amount that does not match, of which its page says that it is held', async () => {
		const of = await pay(fixture, { amount: 1_200 });
		const { text } = await site.ask(elicitation(of));
		for (const said of ['console_do_wrong', 'console_do_held']) assert.ok(text.includes(TEXTS[said]), text);
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('release', of), note: 'it is more than enough' } })).status, 303);
		const released = await site.ask(elicitation(of));
		assert.ok(!released.text.includes(TEXTS.console_do_wrong) && released.text.includes(TEXTS.console_do_unclaimed), released.text);
		const { action, amount } = await fixture.urlmode.waitForCompletion(of.id, { ...of.payment.owner, timeout: 0 });
		assert.deepEqual([action, amount], ['accept', 1_200]);
	});

	test('has a page before it that says what will follow', async () => {
		const of = await hold(fixture);
		for (const [action, note] of [['release', 'console_release_note'], ['void', 'console_void_note'], ['refunded', 'console_refund_note']]) {
			const { text } = await site.ask(`/console/act?${new URLSearchParams({ action, id: of.id, provider: of.provider, reference: of.reference })}`);
			assert.ok(text.includes(TEXTS[note]), `${action}: ${text}`);
			assert.match(text, /EUR\u00a010\.50[^]*EUR\u00a04\.00/);
		}
		assert.deepEqual(await decisions(of), []);
	});

	test('is told as done to who has decided so, not to whoever opens such an address', async () => {
		const of = await hold(fixture);
		const says = async (action, user) => (await site.ask(`${elicitation(of)}&done=${action}`, { user })).text.includes('role="status"');
		for (const action of ['release', 'void', 'refunded', 'burn']) assert.equal(await says(action), false, action);
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('void', of), note: 'why' } })).status, 303);
		assert.deepEqual([await says('void'), await says('release'), await says('void', 'grace')], [true, false, false]);
	});

	test('that is sent twice is written once, and told as done both times', async () => {
		const of = await hold(fixture);
		for (const [action, decision, more] of [['void', 'voided', {}], ['release', 'released', {}], ['refunded', 'refunded', { refund: 're_twice' }]]) {
			const form = { ...await site.actionForm(action, of), note: `because of ${action}`, ...more };
			const before = (await decisions(of)).length;
			for (let i = 0; i < 2; i++) {
				const { status, headers } = await site.ask('/console/act', { form });
				assert.deepEqual([status, headers.get('location')], [303, `/console/elicitation?id=${of.id}&done=${action}`]);
			}
			assert.equal((await decisions(of)).length, before + 1);
			assert.equal((await decisions(of)).at(-1).decision, decision);
			assert.deepEqual(await site.refusal('/console/act', { form: { ...form, note: 'for another reason' } }), [409, 'payment_changed']);
			if (action === 'refunded') assert.deepEqual(await site.refusal('/console/act', { form: { ...form, refund: 're_other' } }), [409, 'payment_changed']);
		}

		// What went back since is not what was decided about.
		const more = await hold(fixture);
		const form = { ...await site.actionForm('release', more), note: 'why' };
		assert.equal((await site.ask('/console/act', { form })).status, 303);
		await more.send({ type: 'charge.dispute.funds_withdrawn', data: { object: {
			id: `dp3_${more.reference}`, object: 'dispute', payment_intent: more.reference, amount: 100, currency: 'eur', metadata: {} } } });
		assert.deepEqual(await site.refusal('/console/act', { form }), [409, 'payment_changed']);
	});

	test('of two operators the second is told that somebody was faster', async () => {
		const of = await hold(fixture);
		const [one, other] = await Promise.all([site.actionForm('void', of), site.actionForm('void', of, { user: 'grace' })]);
		const answers = await Promise.all([site.refusal('/console/act', { form: { ...one, note: 'one' } }), site.refusal('/console/act', { form: { ...other, note: 'other' }, user: 'grace' })]);
		assert.deepEqual(answers.map(([status]) => status).sort(), [303, 409]);
		assert.deepEqual(answers.find(([status]) => status === 409), [409, 'payment_changed']);
		assert.equal((await decisions(of)).length, 1);
		assert.deepEqual(await site.refusal('/console/act', { form: { ...await site.actionForm('void', of), note: 'one' } }), [409, 'not_held']);
	});

	test('is about what its page has shown: not what somebody else has decided since, or what went back since', async () => {
		const of = await hold(fixture);
		const [release, refunded] = [await site.actionForm('release', of), await site.actionForm('refunded', of)];
		const stolen = { ...await site.actionForm('void', of, { user: 'grace' }), note: 'a stolen card' };
		assert.equal((await site.ask('/console/act', { form: stolen, user: 'grace' })).status, 303);
		const { status, text } = await site.ask('/console/act', { form: { ...release, note: 'why' } });
		assert.equal(status, 409);
		assert.match(text, /<code>payment_changed<\/code>/);
		assert.match(text, new RegExp(`href="&#47;console&#47;elicitation&#63;id&#61;${of.id}"`));
		assert.deepEqual(await site.refusal('/console/act', { form: { ...refunded, note: 'why', refund: 're_2' } }), [409, 'payment_changed']);
		assert.deepEqual(await decisions(of), [{ decision: 'voided', decided_by: 'grace', note: 'a stolen card' }]);

		const more = await hold(fixture);
		const before = await site.actionForm('release', more);
		await more.send({ type: 'charge.dispute.funds_withdrawn', data: { object: {
			id: `dp2_${more.reference}`, object: 'dispute', payment_intent: more.reference, amount: 100, currency: 'eur', metadata: {} } } });
		assert.deepEqual(await site.refusal('/console/act', { form: { ...before, note: 'why' } }), [409, 'payment_changed']);
		assert.deepEqual(await decisions(more), []);
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('release', more), note: 'why' } })).status, 303);
	});

	test('is possible whatever the provider has in its reference', async () => {
		const of = await pay(fixture, { item: 'strange' });
		const reference = `pi \u202e\r\n<${of.id}>&"`;
		await fixture.stack.sql('UPDATE urlmode.payment SET reference = $2, held = true WHERE reference = $1', [of.reference, reference]);
		const form = { ...await site.actionForm('void', { ...of, reference }), note: 'why' };
		assert.equal((await site.ask('/console/act', { form })).status, 303);
		assert.equal((await decisions({ reference })).length, 1);
	});

	test('that voids what went back in part is told from what nobody has claimed', async () => {
		const of = await hold(fixture);
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('void', of), note: 'why' } })).status, 303);
		const { text } = await site.ask(elicitation(of));
		assert.match(text, /It was voided: no call gets it, and not all of the money went back/);
		assert.doesNotMatch(text, /nothing was handed over for it yet|All of the money went back/);
	});

	test('changes nothing without a token of this session and this payment, from this site, with a reason', async () => {
		const [of, another] = [await hold(fixture), await hold(fixture)];
		const form = { ...await site.actionForm('void', of), note: 'why' };
		const foreign = await site.actionForm('void', of, { user: 'grace' });
		const refused = [
			[{ form: { ...form, token: '' } }, 403, 'token_invalid'],
			[{ form: { ...form, token: foreign.token } }, 403, 'token_invalid'],
			[{ form: { ...form, action: 'release' } }, 403, 'token_invalid'],
			[{ form: { ...form, reference: another.reference } }, 400, 'filter_invalid'],
			[{ form: { ...form, id: another.id } }, 403, 'token_invalid'],
			[{ form, headers: { Cookie: '' } }, 403, 'token_invalid'],
			[{ form, headers: { 'Sec-Fetch-Site': 'cross-site' } }, 403, 'cross_site'],
			[{ form, headers: { 'Sec-Fetch-Site': 'same-site' } }, 403, 'cross_site'],
			[{ form, headers: { Origin: 'https://evil.example' } }, 403, 'cross_site'],
			[{ form, user: 'eve' }, 403, 'not_operator'],
			[{ form: { ...form, note: '  ' } }, 400, 'note_invalid'],
			[{ form: { ...form, note: 'x'.repeat(1_001) } }, 400, 'note_invalid'],
			[{ form: { ...form, note: 'x'.repeat(5_000) } }, 400, 'parameters_too_large'],
			[{ form: { ...form, more: '1' } }, 400, 'filter_invalid'],
			[{ form: { ...await site.actionForm('refunded', of), note: 'why', refund: '' } }, 400, 'note_invalid'],
		];
		for (const [options, ...expected] of refused) assert.deepEqual(await site.refusal('/console/act', options), expected, JSON.stringify(options));
		assert.deepEqual(await site.refusal('/console/act', { method: 'POST', headers: { 'Sec-Fetch-Site': 'same-origin' } }), [415, 'unsupported_media_type']);
		// Without Fetch Metadata, Origin has to be this site.
		const old = async (origin) => (await fetch(`${site.url}/console/act`, { method: 'POST', body: new URLSearchParams(form), headers: { 'X-Remote-User': OPERATOR, ...origin && { Origin: origin } } })).status;
		assert.equal(await old(), 403);
		assert.deepEqual(await decisions(of), []);
		const { status } = await site.ask('/console/act', { form });
		assert.equal(status, 303);
	});

	test('what was deleted after its time cannot be released, and can be voided', async () => {
		const of = await pay(fixture);
		const dispute = (type) => of.send({ type, data: { object: { id: `dp_${of.reference}`, object: 'dispute', payment_intent: of.reference, amount: 1050, currency: 'eur', metadata: {} } } });
		await dispute('charge.dispute.funds_withdrawn');
		await fixture.stack.sql('DELETE FROM urlmode.elicitation WHERE id = $1', [of.id]);
		await dispute('charge.dispute.funds_reinstated');
		assert.deepEqual(await site.refusal('/console/act', { form: { ...await site.actionForm('release', of), note: 'why' } }), [409, 'elicitation_deleted']);
		const { text } = await site.ask(elicitation(of));
		assert.match(text, /The elicitation was deleted after its time/);
		assert.doesNotMatch(text, /nothing was handed over for it yet/);
		assert.equal((await site.ask('/console/act', { form: { ...await site.actionForm('void', of), note: 'why' } })).status, 303);
	});

	test('what a call has claimed is not decided', async () => {
		const of = await hold(fixture);
		const form = { ...await site.actionForm('release', of), note: 'why' };
		assert.equal((await site.ask('/console/act', { form })).status, 303);
		await fixture.urlmode.claim(of.id, of.payment.owner);
		assert.deepEqual(await site.refusal('/console/act', { form: { ...await site.actionForm('void', of), note: 'why' } }), [409, 'payment_claimed']);
	});
});

test('a database that is away is a 503, and a decision was not stored', async () => {
	const form = { ...await site.actionForm('void', held), note: 'why' };
	await fixture.stack.service('stop', 'postgres');
	assert.deepEqual(await site.refusal('/console/'), [503, 'unavailable']);
	const [status, code] = await site.refusal('/console/act', { form });
	assert.equal(status, 503);
	assert.ok(['not_stored', 'unavailable'].includes(code), code);
	assert.deepEqual(await site.refusal(`/console/elicitation?id=1`), [400, 'filter_invalid'], 'what needs no database is answered');
	await fixture.stack.service('start', 'postgres');
	await until('the console serves again', async () => (await site.ask('/console/')).status === 200);
});

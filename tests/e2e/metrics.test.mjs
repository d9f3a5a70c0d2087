// The metrics as a real Prometheus takes them, and what is shipped to look at
// them: every expression of the dashboard and of the alert rules.

import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

import { scratch } from '../stack/harness.mjs';
import { sender } from '../support/deliveries.mjs';
import { openFixture } from '../support/fixture.mjs';
import { comeBack } from '../support/flow.mjs';
import { request } from '../support/http.mjs';
import { holdRow } from '../support/locks.mjs';
import { MONITORING, panels, startPrometheus } from '../support/prometheus.mjs';
import { until } from '../support/wait.mjs';

const RULES = path.join(MONITORING, 'alerts.yml');
const execute = promisify(execFile);

let fixture;
let prometheus;

before(async () => {
	fixture = await openFixture({ name: 'metrics', own: true });
	prometheus = await startPrometheus(fixture);
});

after(async () => {
	await prometheus?.close();
	await fixture?.close();
});

const scrape = async () => (await request(fixture.url('/metrics'))).body;

/** The value of one series, as `/metrics` has it. */
async function value(series) {
	const line = (await scrape()).split('\n').find((one) => one.startsWith(`${series} `));
	return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** A flow, a payment that is told twice, and refusals. */
async function somethingOfEach() {
	const browser = fixture.browser();
	await comeBack(browser, (await fixture.goOn(browser)).returnTo({ code: 'c' }));
	await request(fixture.url('/connect/demo?state=x'));
	const stripe = sender(fixture, 'stripe');
	const payment = await fixture.createPayment();
	const event = stripe.event(payment.id, 'paid');
	await stripe.send(event);
	await stripe.send(event);
}

describe('what is counted', () => {
	test('events by provider and outcome, refusals by program and reason', async () => {
		const series = {
			accept: 'urlmode_events_total{provider="stripe",outcome="accept"}',
			seen: 'urlmode_events_total{provider="stripe",outcome="seen"}',
			other: 'urlmode_events_total{provider="svix",outcome="accept"}',
			refused: 'urlmode_refusals_total{program="connect",reason="state_invalid"}',
		};
		const values = async () => Object.fromEntries(await Promise.all(
			Object.entries(series).map(async ([name, one]) => [name, await value(one)])));
		const before = await values();

		await somethingOfEach();
		const now = await values();
		assert.deepEqual(Object.fromEntries(Object.keys(series).map((name) => [name, now[name] - before[name]])), {
			accept: 1, seen: 1, other: 0, refused: 1,
		});
	});

	test('the gauges are of this moment', async () => {
		for (const name of ['connect', 'webhook', 'status']) {
			assert.equal(await value(`urlmode_processes{program="${name}"}`), 1);
			assert.equal(await value(`urlmode_database_connections{program="${name}"}`), 1);
			assert.ok(await value(`urlmode_database_connection_age_seconds{program="${name}"}`) > 0);
		}
		assert.equal(await value('urlmode_metrics_shared'), 1);
		assert.ok(Math.abs(await value('urlmode_database_clock_difference_seconds')) < 1, 'it is the same clock');
		assert.ok(await value('urlmode_notification_queue_usage_ratio') < 0.1);
	});

	test('a notification queue that fills is said by /healthz and the log, although nobody asks for metrics', async () => {
		const health = async () => JSON.parse((await request(fixture.url('/healthz'))).body).notification_queue;
		const measure = (usage) => fixture.stack.sql(`CREATE OR REPLACE FUNCTION urlmode.measure(OUT unclaimed bigint,
			OUT oldest_unclaimed_s bigint, OUT database_ms bigint, OUT queue_usage double precision)
			LANGUAGE sql AS 'SELECT 0::bigint, 0::bigint, 0::bigint, ${usage}::double precision'`);

		assert.equal(await health(), undefined);
		await measure(0.3);
		await until('/healthz says so', async () => await health() === 'filling');
		await until('the log says so', async () => (await fixture.stack.programLog()).some(({ program, notice }) => (
			program === 'status' && /30 % of the notification queue/.test(notice))));
		await measure(0.01);
		await until('it is over', async () => await health() === undefined);
	});

	test('what nginx answers by itself is found in its access log, as nginx.mtail reads it', async () => {
		const program = await readFile(path.join(MONITORING, 'nginx.mtail'), 'utf8');
		const [, line] = /^\/(.*)\/ \{$/m.exec(program);
		const [, upstream] = /\$upstream =~ \/(.*)\/ \{$/m.exec(program);
		const counts = (text) => {
			const { groups } = new RegExp(line.replaceAll('?P<', '?<')).exec(text);
			return groups.upstream === '' || new RegExp(upstream).test(groups.upstream) ? groups.status : undefined;
		};
		const counted = async (route) => {
			const { headers: { 'x-request-id': id } } = await request(fixture.url(route));
			return until('nginx has logged it', async () => {
				const texts = [...(await fixture.stack.logs()).values()].join('').split('\n');
				const found = texts.find((text) => text.includes(`"request_id":"${id}"`) && text.endsWith('}'));
				return found && { status: counts(found) };
			});
		};

		assert.deepEqual([await counted('/done'), await counted('/connect/demo'), await counted('/nowhere')],
			[{ status: undefined }, { status: undefined }, { status: '404' }]);
		await fixture.stack.service('stop', 'connect');
		try {
			assert.deepEqual(await counted('/connect/demo'), { status: '502' });
		} finally {
			await fixture.stack.service('start', 'connect');
		}
	});

	test('a request that waits for the database is in progress', async () => {
		const browser = fixture.browser();
		const flow = await fixture.goOn(browser);
		const series = 'urlmode_requests_in_progress{program="oauth-return"}';
		const held = await holdRow(fixture.stack, flow.id);
		const back = comeBack(browser, flow.returnTo({ code: 'c' }));

		try {
			await until('it waits', async () => await value(series) === 1);
		} finally {
			await held.release();
		}
		assert.ok([303, 503].includes((await back).status), 'the programs do not wait for a lock for ever');
		await until('it has been answered', async () => await value(series) === 0);
	});

	test('promtool finds nothing to complain of', async () => {
		const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await scrape(), encoding: 'utf8' });
		assert.deepEqual([status, stdout, stderr], [0, '', '']);
	});

	test('no label holds anything of a request', async () => {
		await request(fixture.url('/connect/a-secret-name?state=a-secret-state'));
		assert.ok(!(await scrape()).includes('secret'));
	});
});

describe('the dashboard', () => {
	test('each expression has an answer', async () => {
		const expressions = (await panels()).flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr]));
		assert.ok(expressions.length > 15);
		await until('every panel shows something', async () => {
			await somethingOfEach();
			const answers = await Promise.all(expressions.map(([, expr]) => prometheus.query(expr)));
			return answers.every((series) => series.some(({ value: [, text] }) => text !== 'NaN'));
		}, { every: 500 }).catch(async (error) => {
			for (const [title, expr] of expressions) {
				const series = await prometheus.query(expr);
				assert.ok(series.length > 0, `${title}: ${expr} has no answer`);
			}
			throw error;
		});
	});

	test('its panels do not overlap, have titles of their own, and say what they show', async () => {
		const all = await panels();
		const cells = all.flatMap(({ gridPos: { x, y, w, h } }) => (
			Array.from({ length: w * h }, (_, n) => `${x + n % w} ${y + Math.floor(n / w)}`)));

		assert.equal(new Set(cells).size, cells.length);
		assert.equal(new Set(all.map(({ title }) => title)).size, all.length);
		assert.ok(all.every(({ description }) => description.endsWith('.')));
	});
});

/** Series of a host on which all is well, two hours long, a value a minute. */
const WELL = {
	'up{job="urlmode",instance="a"}': '1x120',
	'urlmode_program_up{instance="a",program="webhook"}': '1x120',
	'urlmode_processes{instance="a",program="webhook"}': '2x120',
	'urlmode_queue_operations{instance="a",program="webhook"}': '1024x120',
	'urlmode_database_up{instance="a"}': '1x120',
	'urlmode_database_clock_difference_seconds{instance="a"}': '-4.9x120',
	'urlmode_notification_queue_usage_ratio{instance="a"}': '0.2x120',
	// Always one that is unclaimed, and none for long.
	'urlmode_unclaimed_payments{instance="a"}': '1x120',
	'urlmode_oldest_unclaimed_payment_age_seconds{instance="a"}': '0+60x59 0+60x59',
	'urlmode_undelivered_claims{instance="a"}': '1x120',
	'urlmode_oldest_undelivered_claim_age_seconds{instance="a"}': '0+60x59 0+60x59',
	'urlmode_keys_refused{instance="a",program="webhook"}': '0x120',
	'urlmode_configuration_refused{instance="a"}': '0x120',
	'urlmode_certificate_expiry_timestamp_seconds{instance="a",provider="paypal"}': '1220000x120',
	'urlmode_metrics_shared{instance="a"}': '1x120',
	'urlmode_check_findings{instance="a",severity="error"}': '0x120',
	'urlmode_tls_certificate_expiry_timestamp_seconds{instance="a"}': '871200x120',
	'urlmode_issuer_keys_age_seconds{instance="a"}': '86400x120',
	'urlmode_failing_accounts{instance="a"}': '0x120',
	// Probes, which are answered while the database is away.
	'urlmode_requests_total{instance="a",program="status",status="200"}': '0+100000x120',
	'urlmode_requests_total{instance="a",program="signin-return",status="303"}': '0+60x120',
	'urlmode_refusals_total{instance="a",program="signin-return",reason="id_token_invalid"}': '0+50x120',
	'urlmode_requests_total{instance="a",program="webhook",status="200"}': '0+6000x120',
	'urlmode_request_duration_seconds_bucket{instance="a",program="webhook",le="0.5"}': '0+5800x120',
	'urlmode_request_duration_seconds_bucket{instance="a",program="webhook",le="1"}': '0+6000x120',
	'urlmode_request_duration_seconds_bucket{instance="a",program="webhook",le="3"}': '0+6000x120',
	'urlmode_request_duration_seconds_bucket{instance="a",program="webhook",le="+Inf"}': '0+6000x120',
	'urlmode_refusals_total{instance="a",program="webhook",reason="unavailable"}': '0+60x120',
	'urlmode_refusals_total{instance="a",program="webhook",reason="internal_error"}': '0x120',
	'urlmode_refusals_total{instance="a",program="connect",reason="unknown_key"}': '0x63 4x57',
	'urlmode_refusals_total{instance="a",program="webhook",reason="signature_invalid"}': '0x60 8x60',
	'urlmode_unreadable_deliveries_total{instance="a",provider="stripe"}': '0x120',
	'urlmode_events_total{instance="a",provider="stripe",outcome="accept"}': '0+10x120',
	'urlmode_events_total{instance="a",provider="stripe",outcome="late"}': '0x120',
};

/** What is wrong then, from an hour on: the alert, a series, its values, and the minutes until it fires. */
const WRONG = [
	['UrlmodeDown', 'up{job="urlmode",instance="a"}', '1x59 0x60', 2],
	['UrlmodeNoTarget', 'up{job="urlmode",instance="a"}', '1x59 stale _x59', 5],
	['UrlmodeTargetVanished', 'up{job="urlmode",instance="b"}', '1x59 stale _x59', 10],
	['UrlmodeProgramDown', 'urlmode_program_up{instance="a",program="webhook"}', '1x59 0x60', 1],
	['UrlmodeDatabaseDown', 'urlmode_database_up{instance="a"}', '1x59 0x60', 1],
	['UrlmodeCommitStalled', 'urlmode_commit_age_seconds{instance="a"}', '0x59 31+60x60', 1],
	['UrlmodeCheckFails', 'urlmode_check_findings{instance="a",severity="error"}', '0x59 1x60', 1],
	['UrlmodeCheckMissing', 'urlmode_check_timestamp_seconds{instance="a"}', '0+60x59 -60x60', 0],
	['UrlmodeUnavailable', 'urlmode_refusals_total{instance="a",program="webhook",reason="unavailable"}', '0x59 400+400x60', 5],
	['UrlmodeErrors', 'urlmode_refusals_total{instance="a",program="webhook",reason="internal_error"}', '0x59 1x60', 0],
	['UrlmodeSignInsFail', 'urlmode_refusals_total{instance="a",program="signin-return",reason="id_token_invalid"}', '0x59 2000x60', 5],
	['UrlmodeIssuerKeysOld', 'urlmode_issuer_keys_age_seconds{instance="a"}', '86400x59 172801+60x60', 10],
	['UrlmodeSlow', 'urlmode_request_duration_seconds_bucket{instance="a",program="webhook",le="1"}', '0+5900x120', undefined],
	['UrlmodeQueueLong', 'urlmode_queue_operations{instance="a",program="webhook"}', '0x59 1026x60', 1],
	['UrlmodeClockDiffers', 'urlmode_database_clock_difference_seconds{instance="a"}', '0x59 -5.1x60', 5],
	['UrlmodeNotificationQueue', 'urlmode_notification_queue_usage_ratio{instance="a"}', '0x59 0.21x60', 5],
	['UrlmodeUnknownKey', 'urlmode_refusals_total{instance="a",program="connect",reason="unknown_key"}', '0x59 7x60', 0],
	['UrlmodeWebhooksRefused', 'urlmode_refusals_total{instance="a",program="webhook",reason="signature_invalid"}', '0x59 12x60', 0],
	['UrlmodeWebhookUnreadable', 'urlmode_unreadable_deliveries_total{instance="a",provider="stripe"}', '0x59 1x60', 0],
	['UrlmodePaymentLate', 'urlmode_events_total{instance="a",provider="stripe",outcome="late"}', '0x59 1x60', 0],
	['UrlmodePaymentUnclaimed', 'urlmode_oldest_unclaimed_payment_age_seconds{instance="a"}', '0x59 3601+60x60', 5],
	['UrlmodeClaimUndelivered', 'urlmode_oldest_undelivered_claim_age_seconds{instance="a"}', '0x59 3601+60x60', 5],
	['UrlmodeRefreshesFail', 'urlmode_failing_accounts{instance="a"}', '0x59 1x60', 15],
	['UrlmodeKeysRefused', 'urlmode_keys_refused{instance="a",program="webhook"}', '0x59 1x60', 5],
	['UrlmodeConfigurationRefused', 'urlmode_configuration_refused{instance="a"}', '0x59 1x60', 5],
	['UrlmodeCertificateExpires', 'urlmode_certificate_expiry_timestamp_seconds{instance="a",provider="paypal"}', '1220000x59 1209000x60', 0],
	['UrlmodeTlsCertificateExpires', 'urlmode_tls_certificate_expiry_timestamp_seconds{instance="a"}', '871200x59 867000x60', 10],
	['UrlmodeMetricsNotShared', 'urlmode_metrics_shared{instance="a"}', '1x59 0x60', 15],
];

describe('the alert rules', () => {
	test('promtool takes them', async () => {
		const { stdout } = await execute('promtool', ['check', 'rules', RULES]);
		assert.match(stdout, /SUCCESS: 28 rules found/);
	});

	test('each fires when something is wrong, not before its time, and none while all is well', async () => {
		const firing = (names) => ({
			expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
			exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
		});
		const series = (changes) => Object.entries({ ...WELL, ...changes }).map(([name, values]) => ({ series: name, values }));
		const file = path.join(await scratch('alerts'), 'alerts.test.yml');
		const rules = await readFile(RULES, 'utf8');

		assert.deepEqual([...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name), WRONG.map(([name]) => name));
		await writeFile(file, JSON.stringify({
			rule_files: [RULES],
			evaluation_interval: '1m',
			tests: [
				{ name: 'all is well', input_series: series({}), promql_expr_test: [{ ...firing([]), eval_time: '100m' }] },
				...WRONG.map(([name, one, values, minutes]) => ({
					name,
					input_series: series({ [one]: values }),
					promql_expr_test: minutes === undefined ? [{ ...firing([name]), eval_time: '100m' }] : [
						{ ...firing([]), eval_time: `${60 + minutes - 1}m` },
						{ ...firing([name]), eval_time: `${60 + minutes}m` },
					],
				})),
			].map((one) => ({ interval: '1m', ...one })),
		}));
		const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
		assert.equal(status, 0, stdout + stderr);
	});

	test('Prometheus evaluates each on a real scrape, and none fires on a stack that is well', async () => {
		const alerts = await prometheus.query('ALERTS{alertstate="firing",alertname!="UrlmodePaymentLate"}');
		assert.deepEqual(alerts, []);
		for (const [, expr] of (await readFile(RULES, 'utf8')).matchAll(/^ +expr: (?!>-)(.*)$/gm)) {
			await prometheus.query(expr);
		}
	});

	test('they and the dashboard name only metrics, reasons and outcomes that there are', async () => {
		// As `urlmode check --record` leaves it.
		await writeFile(path.join(fixture.stack.runDir, 'metrics.check'), '1795917600 0 2 1795917600\n', { mode: 0o644 });
		const text = await scrape();
		assert.match(text, /^urlmode_check_findings\{severity="warning"\} 2$/m);
		assert.match(text, /^urlmode_check_timestamp_seconds 1795917600$/m);
		const board = JSON.stringify(await panels());
		const rules = await readFile(RULES, 'utf8');

		// The keys of the OpenID provider are where users sign in at one.
		for (const [name] of (board + rules).replaceAll('urlmode_issuer_keys_age_seconds', '').matchAll(/\burlmode_\w+/g)) {
			assert.ok(text.includes(`\n${name}{`) || text.includes(`\n${name} `), name);
		}
		for (const [, label, values] of (board + rules).matchAll(/\b(reason|outcome|program|status)=~?\\?"([^"\\]*)\\?"/g)) {
			for (const one of values.split('|')) {
				assert.ok(text.includes(`${label}="${one}"`), `${label} ${one}`);
			}
		}
	});
});

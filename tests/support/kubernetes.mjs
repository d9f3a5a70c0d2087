// Objects of Kubernetes, and whether they are what their schemas say.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const CONTAINERS = path.join(ROOT, 'nginx/containers');
export const CHART = path.join(CONTAINERS, 'chart');

export const readContainers = (name) => readFileSync(path.join(CONTAINERS, name), 'utf8');

/** The objects of a text. */
export const objectsOf = (text) => parseAllDocuments(text, { merge: true }).map((document) => {
	assert.deepEqual(document.errors, []);
	return document.toJS();
}).filter(Boolean);

/** The objects of the files for Kubernetes: the callbacks, and the api beside an MCP server. */
export const objects = () => ['kubernetes.yaml', 'kubernetes-api.yaml'].flatMap((name) => objectsOf(readContainers(name)));

/** The digest of the chart, which kubernetes.yaml has in its head. */
export function chartDigest() {
	const files = readdirSync(CHART, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
		.map((entry) => path.relative(CHART, path.join(entry.parentPath, entry.name))).sort();
	return createHash('sha256').update(JSON.stringify(files.map((name) => [name, readFileSync(path.join(CHART, name), 'utf8')]))).digest('hex');
}

/** The module of a kind in the packages that are made of the schemas. */
const moduleOf = ({ apiVersion, kind }) => [
	apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models', apiVersion, kind,
].join('/');

/** Each object passes the validation of its schema, and none has a field that its type does not have. */
export async function assertValid(list, name) {
	for (const object of list) {
		const { [object.kind]: Model } = await import(moduleOf(object));
		new Model(object).validate();
	}
	const folder = path.join(ROOT, 'tests/node_modules/.kubernetes');
	const file = path.join(folder, `${name}.ts`);
	await mkdir(folder, { recursive: true });
	await writeFile(file, list.map((object, i) => [
		`import type { I${object.kind} as Type${i} } from ${JSON.stringify(moduleOf(object))};`,
		`export const object${i}: Type${i} = ${JSON.stringify(object)};`,
	]).flat().join('\n'));
	const { stdout } = await promisify(execFile)(path.join(ROOT, 'lib/node/node_modules/.bin/tsc'), ['--noEmit', '--strict', '--skipLibCheck',
		'--module', 'nodenext', '--target', 'es2022', file]).catch((error) => error);
	assert.equal(stdout, '');
}

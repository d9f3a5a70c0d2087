// A root of Debian in place of the image of Debian, which would come from a registry, with
// the packages of the Containerfile; a file of tests runs beside it, with the folder ROOT.

import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import assert from 'node:assert/strict';

import { RELEASE, sources } from './debian.mjs';
import { ROOT, scratch } from '../stack/harness.mjs';
import { readContainers } from '../support/kubernetes.mjs';

/** @param {URL} walk @param {object} env beside what the steps need */
export async function walkInRoot(walk, env) {
	const folder = await scratch(path.basename(walk.pathname, '.mjs'));
	const steps = readContainers('Containerfile').replaceAll(/^#.*\n|\\\n/gm, '').split('\n').filter(Boolean);
	const [, release] = /^FROM debian:(\w+) AS build$/.exec(steps[0]);
	const [, packages] = /^RUN apt-get update && apt-get install -y --no-install-recommends (.*)$/.exec(steps[1]);
	const { stdout, stderr } = await promisify(execFile)('mmdebstrap', [
		'--variant=minbase', '--format=null', '--dpkgopt=force-unsafe-io', `--include=${packages.split(' ').join(',')}`,
		`--customize-hook=ROOT="$1" node --test --test-reporter=spec '${fileURLToPath(walk)}'`, release, '-', ...await sources(release),
	], { cwd: ROOT, maxBuffer: 1 << 26, env: {
		...process.env, NODE_TEST_CONTEXT: undefined, STEPS: JSON.stringify(steps.slice(2)), ...env,
		SAME_RELEASE: release === RELEASE ? 'yes' : '',
		KEYS: await readFile(process.env.URLMODE_KEYS_FILE, 'utf8'), PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
	} }).catch((error) => error);
	const output = stdout + stderr;
	await writeFile(path.join(folder, 'log'), output);
	// A test that its suite could not begin counts as cancelled.
	for (const none of [/^ℹ fail 0$/m, /^ℹ cancelled 0$/m]) assert.match(output, none, output);
	return output;
}

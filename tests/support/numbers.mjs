// The number of the version that is worked on, in each file that has it.

import { readFileSync } from 'node:fs';
import path from 'node:path';

/** @returns {{ number: string, found: Record<string, string> }} that of the changelog, and those of the others */
export function numbersOf(tree) {
	const read = (file) => readFileSync(path.join(tree, file), 'utf8');
	const [, number] = /^urlmode \((\d+\.\d+\.\d+)\)/.exec(read('nginx/debian/changelog'));
	const lock = JSON.parse(read('lib/node/package-lock.json'));
	const [, image] = /^image: \{ repository: (\S+), /m.exec(read('nginx/containers/chart/values.yaml'));
	const tags = (file) => [...new Set([...read(file).matchAll(new RegExp(`image: (?:&\\S+ )?${image}:(\\S+)$`, 'gm'))].map(([, tag]) => tag))].join(' ');
	return { number, found: {
		'package.json': JSON.parse(read('lib/node/package.json')).version,
		'package-lock.json': lock.version,
		'package-lock.json, its package': lock.packages[''].version,
		'pyproject.toml': /^version = "(.*)"$/m.exec(read('lib/python/pyproject.toml'))[1],
		'version.py': /^VERSION = "(.*)"$/m.exec(read('lib/python/src/urlmode/_core/version.py'))[1],
		'Chart.yaml': /^version: (.*)$/m.exec(read('nginx/containers/chart/Chart.yaml'))[1],
		'Chart.yaml, what it installs': /^appVersion: (.*)$/m.exec(read('nginx/containers/chart/Chart.yaml'))[1],
		'values.yaml': /^image: .* tag: ([^,]*),/m.exec(read('nginx/containers/chart/values.yaml'))[1],
		...Object.fromEntries(['kubernetes.yaml', 'kubernetes-api.yaml'].map((file) => [file, tags(`nginx/containers/${file}`)])),
		...Object.fromEntries(['mcp', 'mcpgo', 'vault', 'examples'].map((module) => [module, /urlmode v(\d\S*)$/m.exec(read(`lib/go/${module}/go.mod`))[1]])),
	} };
}

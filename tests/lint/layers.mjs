// Refuses an include that points from a layer of lib/ to one above it, that
// names a header without its layer, or that closes a circle of modules; and
// one of operate/ in a server. The order of the layers stands in lib/README.md.
// In crypto/ it also refuses clearing that a compiler may leave out, since it
// cannot see which bytes are secret.

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLEARS = /\bmemset\([^;]*,\s*(?:0|'\\0')\s*,[^;]*;|^\s*[^\s=][^\s=]* = \([\w ]+\)\{ ?0 ?\};/gm;

const table = readFileSync(path.join(ROOT, 'lib/README.md'), 'utf8');
const layers = [...table.matchAll(/^\| `([a-z]+)\/` \|/gm)].map(([, name]) => name);
const findings = [];
const includes = new Map(); // of a module (a header and its source): the modules that it includes

/** @param {string} folder */
const allowed = (folder) => layers.slice(0, layers.indexOf(folder) + 1);

for (const folder of readdirSync(path.join(ROOT, 'lib'), { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
	const files = readdirSync(path.join(ROOT, 'lib', folder.name)).filter((name) => /\.[ch]$/.test(name));
	if (files.length > 0 && !layers.includes(folder.name)) {
		findings.push(`lib/${folder.name}: this layer is missing in lib/README.md`);
		continue;
	}
	for (const file of files) {
		const module = `${folder.name}/${path.parse(file).name}`;
		const text = readFileSync(path.join(ROOT, 'lib', folder.name, file), 'utf8');
		for (const [clearing] of folder.name === 'crypto' ? text.matchAll(CLEARS) : []) {
			findings.push(`lib/crypto/${file}: ${clearing.trim()} A compiler may leave this out: explicit_bzero()`);
		}
		for (const [, target] of text.matchAll(/^#include "([^"]+)"/gm)) {
			const layer = path.dirname(target);
			if (!allowed(folder.name).includes(layer)) {
				findings.push(`lib/${folder.name}/${file}: includes "${target}", which is not in its layer or below`);
			}
			const other = target.replace(/\.h$/, '');
			if (other !== module) {
				includes.set(module, (includes.get(module) ?? new Set()).add(other));
			}
		}
	}
}

for (const file of readdirSync(path.join(ROOT, 'cgi-bin')).filter((name) => /\.[ch]$/.test(name))) {
	for (const [, target] of readFileSync(path.join(ROOT, 'cgi-bin', file), 'utf8').matchAll(/^#include "([^"]+)"/gm)) {
		const layer = path.dirname(target);
		if (layer === 'operate' || !layers.includes(layer)) {
			findings.push(`cgi-bin/${file}: includes "${target}", which no server may`);
		}
	}
}

/**
 * The first circle of modules that is reached from `module`, or nothing.
 *
 * @param {string} module
 * @param {string[]} way the modules that led here
 * @param {Set<string>} done modules that lead to no circle
 * @returns {string[] | undefined}
 */
function circle(module, way, done) {
	if (way.includes(module)) {
		return [...way.slice(way.indexOf(module)), module];
	}
	if (!done.has(module)) {
		for (const next of includes.get(module) ?? []) {
			const found = circle(next, [...way, module], done);
			if (found) {
				return found;
			}
		}
		done.add(module);
	}
	return undefined;
}

const done = new Set();
for (const module of includes.keys()) {
	const found = circle(module, [], done);
	if (found) {
		findings.push(`a circle: ${found.join(' → ')}`);
		break;
	}
}
console.log([...findings, `${layers.length} layers, ${findings.length} findings`].join('\n'));
process.exitCode = findings.length === 0 ? 0 : 1;

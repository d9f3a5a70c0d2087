// A project that uses the package: urlmode as npm installs it, one version of a
// framework, and the files of an example.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = join(ROOT, 'lib/node');

/**
 * @typedef {object} Project
 * @property {string} folder
 * @property {(name: string) => any} load imports a package as the project's files do
 * @property {(name: string) => string} versionOf a package
 */

/**
 * @param {{ name: string, frameworks: 'oldest' | 'newest', files?: Record<string, string>,
 *     doubles?: Record<string, string> }} options doubles: package → its folder, for a framework that npm does not have:
 *     that of a build, or of a double in tests/support/doubles
 * @returns {Project}
 */
export function makeProject({ name, frameworks, files = {}, doubles = {} }) {
	// Other files that run at the same time may have a project of this name.
	const folder = join(ROOT, 'build/test/projects', `${name}-${frameworks}-${process.pid}`);
	const modules = join(folder, 'node_modules');
	rmSync(folder, { recursive: true, force: true });
	process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
	mkdirSync(modules, { recursive: true });
	linkPackages(join(ROOT, 'tests/frameworks', frameworks, 'node_modules'), modules);
	linkPackages(join(PACKAGE, 'node_modules'), modules, dependenciesOf(PACKAGE));
	install(modules);
	for (const [double, from] of Object.entries(doubles)) {
		mkdirSync(dirname(join(modules, double)), { recursive: true });
		// A build finds its own packages from where it is, and a double those of the project.
		if (isAbsolute(from)) symlinkSync(from, join(modules, double));
		else cpSync(join(ROOT, 'tests/support/doubles', from), join(modules, double), { recursive: true });
	}
	writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n');
	cpSync(join(ROOT, 'tests/support/waits.mjs'), join(folder, 'waits.mjs'));
	for (const [file, text] of Object.entries(files)) {
		writeFileSync(join(folder, file), text);
	}
	const load = createRequire(join(folder, 'index.js'));
	return {
		folder,
		load,
		versionOf: (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version,
	};
}

/** The files of `npm pack` in a folder of their own, so that the package finds only the frameworks beside it. */
function install(modules) {
	const target = join(modules, 'urlmode');
	mkdirSync(target);
	for (const part of ['package.json', 'src']) {
		cpSync(join(PACKAGE, part), join(target, part), { recursive: true });
	}
	for (const part of ['contract', 'providers', 'currencies.json']) cpSync(join(ROOT, 'lib', part), join(target, part), { recursive: true });
}

/** All dependencies of the package, including indirect ones. */
function dependenciesOf(folder) {
	const found = new Set();
	const look = (at) => {
		const { dependencies = {} } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'));
		for (const name of Object.keys(dependencies)) {
			if (!found.has(name)) {
				found.add(name);
				look(join(folder, 'node_modules', name));
			}
		}
	};
	look(folder);
	return found;
}

function linkPackages(from, to, only) {
	const names = readdirSync(from).flatMap((name) => (name.startsWith('@')
		? readdirSync(join(from, name)).map((rest) => `${name}/${rest}`) : [name]));
	for (const name of names) {
		if (!name.startsWith('.') && (!only || only.has(name))) {
			mkdirSync(dirname(join(to, name)), { recursive: true });
			symlinkSync(join(from, name), join(to, name));
		}
	}
}

/** @param {string} file of lib/node/examples */
export function example(file) {
	return readFileSync(join(PACKAGE, 'examples', file), 'utf8');
}

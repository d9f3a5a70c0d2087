// A project that uses the package: urlmode as npm installs it, one version of a
// framework, and the files of an example.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
	linkDependencies(join(ROOT, 'tests/frameworks', frameworks), modules);
	linkDependencies(PACKAGE, modules);
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

/** Links all dependencies of a package, including indirect ones, from where npm has put them: in the folder, or above it. */
function linkDependencies(folder, modules) {
	const packages = [folder];
	for (const from of packages) {
		const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
		for (const name of Object.keys(dependencies)) {
			const link = join(modules, name);
			if (existsSync(link)) continue;
			const found = installed(name, from);
			mkdirSync(dirname(link), { recursive: true });
			symlinkSync(found, link);
			packages.push(found);
		}
	}
}

/** The folder of a package that another one depends on. */
function installed(name, from) {
	const folder = join(from, 'node_modules', name);
	if (existsSync(folder)) return folder;
	if (from === dirname(from)) throw new Error(`${name} is not installed`);
	return installed(name, dirname(from));
}

/** @param {string} file of lib/node/examples */
export function example(file) {
	return readFileSync(join(PACKAGE, 'examples', file), 'utf8');
}

/**
 * An example as a CommonJS module, which gets urlmode and its framework by `require`.
 *
 * @param {string} file of lib/node/examples
 */
export function exampleInCommonJs(file) {
	let required = '';
	const rest = example(file).replace(/^import (\{[^}]*\}) from '([^']+)';\n/gm, (_, names, from) => {
		// What waits at its top level cannot be required.
		const load = from.startsWith('./') ? 'await import' : 'require';
		required += `\tconst ${names} = ${load}('${from}');\n`;
		return '';
	});
	if (/^import /m.test(rest)) throw new Error(`${file} has an import of another form`);
	return `async function main() {\n${required}${rest}}\nmain();\n`;
}

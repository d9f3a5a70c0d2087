// A server for edge runtimes in workerd, as it is bundled for them.

import { spawn } from 'node:child_process';
import { builtinModules } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';

import { build } from 'esbuild';
import workerd from 'workerd';

import { until } from './wait.mjs';

/** What mcp-use imports for features that are not used. */
const NOT_INSTALLED = ['@mcp-use/client'];
const COMPATIBILITY = '2026-11-01';

/**
 * @param {import('./projects.mjs').Project} project whose server.mjs is the worker
 * @param {Record<string, string>} env
 * @param {{ node?: boolean }} [options] node: with the modules of Node.js that workerd has, for frameworks that need them
 * @returns {Promise<{ url: string, bundle: string, close(): Promise<void> }>} bundle: what workerd runs
 */
export async function startWorker(project, env, { node = false } = {}) {
	const bundle = join(project.folder, 'worker.js');
	await bundleForEdge(join(project.folder, 'server.mjs'), bundle, { node });
	const port = await freePort();
	const text = (value) => JSON.stringify(value);
	const config = join(project.folder, 'worker.capnp');
	writeFileSync(config, `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
	services = [
		(name = "main", worker = (
			modules = [(name = "worker", esModule = embed "worker.js")],
			compatibilityDate = ${text(COMPATIBILITY)},
			compatibilityFlags = [${node ? text('nodejs_compat') : ''}],
			bindings = [${Object.entries(env).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`).join(', ')}],
		)),
		(name = "internet", network = (allow = ["private"])),
	],
	sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`);
	const child = spawn(typeof workerd === 'string' ? workerd : workerd.default, ['serve', config], { stdio: ['ignore', 'inherit', 'inherit'] });
	const ended = new Promise((resolve) => child.once('exit', resolve));
	const url = `http://127.0.0.1:${port}/mcp`;
	await until('workerd answers', () => fetch(url).then(() => true, () => child.exitCode !== null));
	return {
		url, bundle,
		async close() {
			child.kill();
			await ended;
		},
	};
}

/**
 * A bundle in which everything is, as the tools for edge runtimes make it.
 *
 * @param {string} file
 * @param {string} bundle where it is written
 * @param {{ node?: boolean }} [options]
 */
export async function bundleForEdge(file, bundle, { node = false } = {}) {
	const { metafile } = await build({
		entryPoints: [file], outfile: bundle, bundle: true, format: 'esm', target: 'es2022', platform: 'neutral', external: ['node:*', ...node ? NOT_INSTALLED : []],
		alias: node ? Object.fromEntries(builtinModules.map((name) => [name, `node:${name}`])) : {},
		mainFields: ['module', 'main'], conditions: ['workerd', 'worker', 'browser'], logLevel: 'error', metafile: true,
	});
	return { outside: metafile.outputs[Object.keys(metafile.outputs)[0]].imports.map(({ path }) => path), inside: Object.keys(metafile.inputs) };
}

function freePort() {
	return new Promise((resolve) => {
		const server = createServer().listen(0, '127.0.0.1', () => {
			const { port } = server.address();
			server.close(() => resolve(port));
		});
	});
}

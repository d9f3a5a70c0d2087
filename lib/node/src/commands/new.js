// urlmode new: the example server of a framework, in a folder of its own.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { TEXTS } from './contract-texts.js';
import { UsageError } from './usage-error.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const ZOD = { zod: '^4.2.0' };
const HONO = { '@hono/node-server': '^2.1.8', 'hono': '^4.13.19' };

/**
 * The frameworks by their examples, with the packages that these import.
 *
 * @type {Record<string, { of: string, packages: Record<string, string>, notOnNpm?: string[] }>}
 */
const FRAMEWORKS = {
	'sdk': { of: 'the official TypeScript SDK 1.x', packages: { '@modelcontextprotocol/sdk': '^1.23.0', ...ZOD } },
	'sdk2': {
		of: 'the official TypeScript SDK 2.x', packages: { '@modelcontextprotocol/node': '^2.0.0', '@modelcontextprotocol/server': '^2.0.0', ...ZOD },
	},
	'paid': {
		of: TEXTS.paidExample('SDK 2.x'),
		packages: { '@modelcontextprotocol/node': '^2.0.0', '@modelcontextprotocol/server': '^2.0.0', 'pg': '^8.23.1', ...ZOD },
	},
	'mcp-use': { of: 'mcp-use 2.x', packages: { ...HONO, ...ZOD, 'mcp-use': '^2.0.0' } },
	'mcp-lite': { of: 'mcp-lite', packages: { ...HONO, 'mcp-lite': '^0.10.0' } },
	'lynq-hono': { of: 'lynq, on Hono', packages: HONO, notOnNpm: ['@lynq/lynq', '@lynq/hono'] },
	'lynq-express': { of: 'lynq, on Express', packages: { express: '^5.1.0' }, notOnNpm: ['@lynq/lynq', '@lynq/express'] },
	'frontmcp': { of: 'FrontMCP', packages: ZOD, notOnNpm: ['@frontmcp/sdk'] },
};

/** The packages that every example needs beside its framework. */
const COMMON = { 'openid-client': '^6.1.1' };

const LIST = Object.entries(FRAMEWORKS).map(([name, { of, notOnNpm }]) => (
	`  ${name.padEnd(14)}${of}${notOnNpm ? `; npm does not have ${notOnNpm.join(' and ')}` : ''}\n`)).join('');

export const help = `usage: urlmode new [FRAMEWORK] [FOLDER]

${TEXTS.exampleWritten('Writes')}

  server.mjs    a whole server, with a tool that connects an account and one that
                takes a payment
  app.mjs       what belongs to your application: replace it with your own
  .env.example  the variables that app.mjs reads
  package.json  gets the packages that they import, and this version of urlmode

Nothing else is changed in a file that exists. ${TEXTS.exampleList}

${LIST}`;

/** @param {string[]} args */
export async function run([framework, folder = '.', ...more]) {
	if (framework === undefined) {
		process.stdout.write(LIST);
		return 0;
	}
	if (more.length > 0) throw new UsageError('urlmode new takes a framework and a folder');
	const described = Object.hasOwn(FRAMEWORKS, framework) ? FRAMEWORKS[framework] : undefined;
	if (!described) throw new UsageError(TEXTS.noExample(framework, Object.keys(FRAMEWORKS).join(', ')));
	await mkdir(folder, { recursive: true });
	for (const [name, from] of [['server.mjs', `${framework}.mjs`], ['app.mjs', 'app.mjs'], ['.env.example', '.env.example']]) {
		await write(join(folder, String(name)), await readFile(join(EXAMPLES, String(from))));
	}
	await addPackages(join(folder, 'package.json'), { urlmode: await ownVersion(folder), ...COMMON, ...described.packages });
	const { notOnNpm } = described;
	process.stdout.write(`
${notOnNpm ? `npm does not have ${notOnNpm.join(' and ')}: install them from their source. ` : ''}Then

${folder === '.' ? '' : `    cd ${quoted(folder)}\n`}    npm install
    cp .env.example .env                 # then write into it where the callback programs are
    node --env-file=.env server.mjs      # the server prints its URL
`);
	return 0;
}

/** @param {string} text as a word of a shell */
const quoted = (text) => (/^[\w./@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * This package, from where it was installed: what is on no registry would be looked for there under a name that anybody can take.
 *
 * @param {string} folder of the package.json
 */
async function ownVersion(folder) {
	const here = fileURLToPath(new URL('../../', import.meta.url));
	const { name, version } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
	const { root, resolved } = await installation(here);
	if (resolved.startsWith('file:')) return `file:${relative(folder, resolve(root, resolved.slice(5)))}`;
	if (!/^git\+|^https?:/.test(resolved)) return `file:${relative(folder, here)}`; // a checkout, or what another one than npm has installed
	// A registry has its archives below /-/.
	if (!/^https?:.*\/-\//.test(resolved)) return resolved;
	return name === 'urlmode' ? version : `npm:${name}@${version}`;
}

/**
 * What npm says of where a package came from, in the file that it keeps in the project's own node_modules.
 *
 * @param {string} folder of the package
 * @returns {Promise<{ root: string, resolved: string }>} the folder of the project; nothing for what npm has not installed
 */
async function installation(folder) {
	const MODULES = '/node_modules/';
	for (let at = folder.lastIndexOf(MODULES); at > 0; at = folder.lastIndexOf(MODULES, at - 1)) {
		const root = folder.slice(0, at);
		const lock = await readFile(join(root, MODULES, '.package-lock.json'), 'utf8').catch(() => undefined);
		if (lock) return { root, resolved: JSON.parse(lock).packages?.[folder.slice(at + 1).replace(/\/$/, '')]?.resolved ?? '' };
	}
	return { root: folder, resolved: '' };
}

/**
 * @param {string} file
 * @param {Record<string, string>} packages those that the file does not name yet are added
 */
async function addPackages(file, packages) {
	const text = await readFile(file, 'utf8').catch((error) => {
		if (error.code !== 'ENOENT') throw error;
		return '{\n\t"private": true,\n\t"type": "module"\n}\n';
	});
	const project = JSON.parse(text);
	const added = Object.entries(packages).filter(([name]) => !Object.hasOwn(project.dependencies ?? {}, name));
	if (added.length === 0) return;
	const dependencies = { ...project.dependencies, ...Object.fromEntries(added) };
	await writeFile(file, `${JSON.stringify({ ...project, dependencies }, null, /^[ \t]+/m.exec(text)?.[0] ?? '\t')}\n`);
	process.stdout.write(`${file} has ${added.map(([name, version]) => `${name} ${version}`).join(', ')}\n`);
}

/**
 * @param {string} file
 * @param {string | Uint8Array} content
 */
async function write(file, content) {
	try {
		await writeFile(file, content, { flag: 'wx' });
		process.stdout.write(`${file} is written\n`);
	} catch (error) {
		if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
		process.stdout.write(`${file} ${TEXTS.fileStays}\n`);
	}
}

// urlmode new: the example server of a framework, in a folder of its own.

import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { UsageError } from './usage-error.js';

const EXAMPLES = fileURLToPath(new URL('../../examples/', import.meta.url));

const FRAMEWORKS = readdirSync(EXAMPLES).map((file) => file.replace(/\.mjs$/, '')).filter((name) => !['app', 'mollie'].includes(name)).sort();

export const help = `usage: urlmode new FRAMEWORK [FOLDER]

Writes the example server of a framework into a folder, this one by default:

  server.mjs    a whole server, with a tool that connects an account and one that
                takes a payment
  app.mjs       what belongs to your application: replace it with your own
  package.json  the packages that they import, except urlmode itself

Nothing is overwritten. FRAMEWORK is the name of a file in the package's folder
examples: ${FRAMEWORKS.join(', ')}
`;

/** The packages that every example needs beside its framework. */
const COMMON = { 'openid-client': '^6.1.1' };

/** What else an example imports. npm does not have lynq and FrontMCP. */
const PACKAGES = /** @type {const} */ ({
	'sdk': { '@modelcontextprotocol/sdk': '^1.23.0' },
	'sdk2': { '@modelcontextprotocol/node': '^2.0.0', '@modelcontextprotocol/server': '^2.0.0' },
	'mcp-use': { '@hono/node-server': '^2.1.8', 'hono': '^4.13.19', 'mcp-use': '^2.0.0' },
	'lynq-hono': { '@hono/node-server': '^2.1.8', 'hono': '^4.13.19' },
	'lynq-express': { express: '^5.1.0' },
	'frontmcp': { zod: '^4.2.0' },
	'mcp-lite': { '@hono/node-server': '^2.1.8', 'hono': '^4.13.19', 'mcp-lite': '^0.10.0' },
});

/** @param {string[]} args */
export async function run([framework, folder = '.', ...more]) {
	if (framework === undefined || more.length > 0) throw new UsageError('urlmode new takes a framework and a folder');
	if (!FRAMEWORKS.includes(framework)) throw new UsageError(`there is no example for ${framework}, but for ${FRAMEWORKS.join(', ')}`);
	await mkdir(folder, { recursive: true });
	const dependencies = { ...COMMON, .../** @type {Record<string, object>} */ (PACKAGES)[framework] };
	await write(folder, 'server.mjs', await readFile(join(EXAMPLES, `${framework}.mjs`)));
	await write(folder, 'app.mjs', await readFile(join(EXAMPLES, 'app.mjs')));
	await write(folder, 'package.json', `${JSON.stringify({ private: true, type: 'module', dependencies }, null, '\t')}\n`);
	process.stdout.write(`\nInstall the packages, and urlmode as you have installed it here. Then set what app.mjs names, and

    PORT=8000 URLMODE_DATABASE_URL= URLMODE_KEYS_FILE= URLMODE_BASE_URL= node server.mjs
`);
	return 0;
}

/**
 * @param {string} folder
 * @param {string} name
 * @param {string | Uint8Array} content
 */
async function write(folder, name, content) {
	const file = join(folder, name);
	try {
		await writeFile(file, content, { flag: 'wx' });
		process.stdout.write(`${file} is written\n`);
	} catch (error) {
		if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
		process.stdout.write(`${file} exists, and stays as it is\n`);
	}
}

// lynq and FrontMCP, which npm does not have: builds of their sources, where the
// environment names them, and otherwise doubles of what their sources do.
//
// LYNQ_DIR      the folder of lynq's sources, with packages/*/dist
// FRONTMCP_DIR  the folder of FrontMCP's sources, with libs/sdk/dist, or of one built package

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const { LYNQ_DIR, FRONTMCP_DIR } = process.env;

export const LYNQ = LYNQ_DIR ? {
	'@lynq/lynq': resolve(LYNQ_DIR, 'packages/lynq'),
	'@lynq/hono': resolve(LYNQ_DIR, 'packages/hono'),
	'@lynq/express': resolve(LYNQ_DIR, 'packages/express'),
} : { '@lynq/lynq': 'lynq', '@lynq/hono': 'lynq-hono', '@lynq/express': 'lynq-express' };

const FRONTMCP_PACKAGE = FRONTMCP_DIR && [join(FRONTMCP_DIR, 'libs/sdk'), FRONTMCP_DIR].find((folder) => existsSync(folder));

export const FRONTMCP = { '@frontmcp/sdk': FRONTMCP_PACKAGE ? resolve(FRONTMCP_PACKAGE) : 'frontmcp' };

/**
 * @param {string} name
 * @param {string} folder
 * @returns {string} what the tests run, such as `lynq 0.13.0`, or `lynq (a double)`
 */
export function describeBuild(name, folder) {
	const file = join(folder, 'package.json');
	return existsSync(file) ? `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}` : `${name} (a double)`;
}

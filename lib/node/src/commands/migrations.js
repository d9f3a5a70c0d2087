// The files of sql/.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const resolve = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** In the repository they are in a folder of its own; `prepare.mjs` puts copies into the package. */
const FOLDER = resolve(existsSync(resolve('../../../../lib/node/prepare.mjs')) ? '../../../../sql/' : '../../sql/');

/**
 * In the order in which they are applied.
 *
 * @param {string} folder
 * @returns {{ name: string, sql: string }[]}
 */
function readFolder(folder) {
	const names = readdirSync(FOLDER + folder).filter((name) => /^[0-9].*\.sql$/.test(name)).sort();
	return names.map((name) => ({ name, sql: readFileSync(`${FOLDER}${folder}/${name}`, 'utf8') }));
}

/** Each is applied once. */
export const readMigrations = () => readFolder('tables');

/** All are applied each time. */
export const readFunctions = () => readFolder('functions');

/**
 * The names of the roles in place of :"cgi" and :'cgi', as psql puts them there.
 *
 * @param {string} sql
 */
export function withRoles(sql) {
	const names = Object.fromEntries([...readFileSync(`${FOLDER}roles.sql`, 'utf8').matchAll(/^\\set (\w+) (\w+)$/gm)]
		.map(([, role, name]) => [role, name]));
	return sql.replaceAll(/(?<!:):(["'])(\w+)\1/g, (whole, quote, role) => (role in names ? quote + names[role] + quote : whole));
}

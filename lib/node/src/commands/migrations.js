// The files of sql/.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const resolve = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** In the repository they are in a folder of its own; `prepare.mjs` puts copies into the package. */
const FOLDER = resolve(existsSync(resolve('../../prepare.mjs')) ? '../../../../sql/' : '../../sql/');

const read = (/** @type {string} */ file) => readFileSync(FOLDER + file, 'utf8');

const ROLES = new Map([...read('roles.sql').matchAll(/^\\set (\w+) (\w+)$/gm)].map(([, role, name]) => [role, name]));

/**
 * With the names of the roles in place of :"cgi" and :'cgi', as psql puts them there.
 *
 * @param {string} sql
 */
export const withRoles = (sql) => sql.replaceAll(/(?<!:):(["'])(\w+)\1/g, (_, quote, role) => quote + ROLES.get(role) + quote);

/**
 * @typedef {{ name: string, sql: string }} SqlFile
 */

/**
 * In the order in which they are applied.
 *
 * @param {string} folder
 * @returns {SqlFile[]}
 */
function readFolder(folder) {
	const names = readdirSync(FOLDER + folder).filter((name) => /^[0-9].*\.sql$/.test(name)).sort();
	return names.map((name) => ({ name, sql: withRoles(read(`${folder}/${name}`)) }));
}

/** What comes before all others, each time. @type {SqlFile} */
export const BEGIN = { name: 'begin.sql', sql: withRoles(read('begin.sql')) };

/** Each is applied once. @param {boolean} frameworks with those of frameworks/ */
export const readMigrations = (frameworks = false) => [...readFolder('tables'), ...frameworks
	? readFolder('frameworks/tables').map(({ name, sql }) => ({ name: `frameworks/${name}`, sql })) : []];

/** All are applied each time. @param {boolean} frameworks with those of frameworks/ */
export const readFunctions = (frameworks = false) => [...readFolder('functions'), ...frameworks ? readFolder('frameworks/functions') : []];

/** Whether frameworks/ was applied before, or is being applied. @param {string[]} applied names of migrations */
export const hasFrameworks = (applied) => applied.some((name) => name.startsWith('frameworks/'));

/** Of the functions of this package. */
export const functionsVersion = () => Number(/functions_version\(\)[^]*?\tSELECT (\d+)/.exec(read('functions/000_version.sql'))?.[1]);

// The files of sql/.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const resolve = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** In the repository they are in a folder of its own; `prepare.mjs` puts copies into the package. */
const FOLDER = resolve(existsSync(resolve('../../prepare.mjs')) ? '../../../../sql/' : '../../sql/');

const read = (/** @type {string} */ file) => readFileSync(FOLDER + file, 'utf8');

/** What psql sets by roles.sql, by its name: `cgi`, the name of the login of the callback programs, and so on. @typedef {Record<string, string>} Names */

const ROLES = read('roles.sql');
const SUFFIXES = [...ROLES.matchAll(/^\\set (\w+) :prefix (\w+)$/gm)].map(([, role, suffix]) => [role, suffix]);

/** The SELECT that says whose database this is: its `prefix` and `owner`. @param {string} deployment empty: as the database has it */
export const whoseDatabase = (deployment) => withNames(ROLES.slice(ROLES.indexOf('\nSELECT '), ROLES.indexOf(' \\gset')), { deployment });

/** @param {{ prefix: string, owner: string }} row what `whoseDatabase` has returned @returns {Names} */
export const namesOf = ({ prefix, owner }) => ({ prefix, owner, ...Object.fromEntries(SUFFIXES.map(([role, suffix]) => [role, prefix + suffix])) });

/**
 * With these names in place of :"cgi" and :'cgi', as psql puts them there.
 *
 * @param {string} sql
 * @param {Names} names
 */
export const withNames = (sql, names) => sql.replaceAll(/(?<!:):(["'])(\w+)\1/g, (_, quote, name) => quote + names[name] + quote);

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
	return names.map((name) => ({ name, sql: read(`${folder}/${name}`) }));
}

/** @param {string} name @returns {SqlFile} */
const readOne = (name) => ({ name, sql: read(name) });

/** What comes before all others, each time. */
export const BEGIN = readOne('begin.sql');

/** What comes after the migrations, each time. */
export const LOGINS = readOne('logins.sql');

/** What each transaction begins with. */
export const TURN = read('turn.sql');

/** What comes before a migration that names the elicitations. */
export const LOCK_FIRST = read('lock.sql');

/** What comes after each migration, which is named by `file`. */
export const APPLIED = read('applied.sql');

/** Says who holds the locks for which a migration has waited. */
export const BLOCKERS = read('blockers.sql');

/** Each is applied once. @param {boolean} frameworks with those of frameworks/ */
export const readMigrations = (frameworks = false) => [...readFolder('tables'), ...frameworks
	? readFolder('frameworks/tables').map(({ name, sql }) => ({ name: `frameworks/${name}`, sql })) : []];

/** The digests of all of them by name, as migrate is told: a file that is not as it was applied is an error. @returns {Record<string, string>} */
export const migrationDigests = () => Object.fromEntries(readMigrations(true).map(({ name, sql }) => [name, createHash('sha256').update(sql).digest('hex')]));

/** All are applied each time. @param {boolean} frameworks with those of frameworks/ */
export const readFunctions = (frameworks = false) => [...readFolder('functions'),
	...frameworks ? readFolder('frameworks/functions') : [], readOne('end.sql')];

/** Whether frameworks/ was applied before, or is being applied. @param {string[]} applied names of migrations */
export const hasFrameworks = (applied) => applied.some((name) => name.startsWith('frameworks/'));

/** Of the functions of this package. */
export const functionsVersion = () => Number(/functions_version\(\)[^]*?\tSELECT (\d+)/.exec(read('functions/000_version.sql'))?.[1]);

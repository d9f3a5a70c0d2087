// The command `urlmode` of the package, for hosts that only have the waiting
// side. Where the callback programs are, `urlmode` of their package does more;
// what both have has the same name.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { printable } from './printable.js';
import { UsageError } from './usage-error.js';

/**
 * @typedef {object} Command
 * @property {string} help
 * @property {import('node:util').ParseArgsConfig['options']} [options]
 * @property {(args: string[], options: Record<string, string | boolean | undefined>) => Promise<number>} run resolves to the
 *     exit status
 */

/**
 * Each is loaded when it runs: most have the driver of PostgreSQL, which takes longer than all else.
 *
 * @type {Record<string, () => Promise<Command>>}
 */
const COMMANDS = { accounts: () => import('./accounts.js'), check: () => import('./check.js'), keys: () => import('./keys.js'), migrate: () => import('./migrate.js'), new: () => import('./new.js'), unclaimed: () => import('./unclaimed.js'), vault: () => import('./vault.js') };

const USAGE_STATUS = 64;

const HELP = `usage: urlmode COMMAND [OPTION...] [ARGUMENT...]

  new        write the example server of an MCP framework
  migrate    bring the database's schema up to date
  keys       list the keys of a keys file, or write a new one
  check      look for what is wrong with the setup of a server, and say what to do
  unclaimed  list the payments that no call has claimed
  accounts   list the accounts that users have connected
  vault      say which keys the vault needs, and seal it anew

urlmode COMMAND --help says more about a command; urlmode --version says which
version this is.
`;

/**
 * @param {string[]} argv
 * @returns {Promise<number>} the exit status
 */
export async function run([name = '--help', ...rest]) {
	if (name === '--help' || name === '-h' || name === 'help') {
		process.stdout.write(HELP);
		return 0;
	}
	if (name === '--version') {
		const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
		process.stdout.write(`urlmode ${version}\n`);
		return 0;
	}
	try {
		const command = Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]?.() : undefined;
		if (!command) throw new UsageError(`there is no command ${name}; see urlmode --help`);
		const { values, positionals } = parse(name, command, rest);
		if (values.help) {
			process.stdout.write(command.help);
			return 0;
		}
		return await command.run(positionals, values);
	} catch (error) {
		const { message } = /** @type {Error} */ (error);
		process.stderr.write(`urlmode: ${printable(message)}\n`);
		return error instanceof UsageError ? USAGE_STATUS : 1;
	}
}

/**
 * @param {string} name
 * @param {Command} command
 * @param {string[]} args
 */
function parse(name, { options }, args) {
	try {
		const { values, positionals } = parseArgs({
			args, allowPositionals: true, options: { ...options, help: { type: 'boolean', short: 'h' } },
		});
		return { positionals, values: /** @type {Record<string, string | boolean | undefined>} */ (values) };
	} catch (error) {
		const [reason] = /** @type {Error} */ (error).message.split('. ');
		throw new UsageError(`${reason}; see urlmode ${name} --help`);
	}
}

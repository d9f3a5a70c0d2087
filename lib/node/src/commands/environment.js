/**
 * @param {string} name of an environment variable
 * @param {string} what it is
 */
export function required(name, what) {
	const value = process.env[name];
	if (!value) throw new Error(`${name} is not set: ${what}`);
	return value;
}

/** @param {unknown} option `--tenant` */
export const tenantOf = (option) => (option === undefined ? '' : String(option));

export const DATABASE_URL = 'a connection string of the role urlmode_server, postgresql://urlmode_server:…@host/database';
export const KEYS_FILE = 'the path of a copy of the callback programs\' keys file';
export const BASE_URL = 'where the callback programs are, https://callback.example';
export const VAULT_KEYS_FILE = 'the path of the vault\'s keys file, which no callback host has';

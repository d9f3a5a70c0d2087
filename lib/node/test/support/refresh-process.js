// An MCP server that uses accounts until it is killed. It says each error, as a
// server's log would.

import { UrlMode } from '../../src/index.js';
import { Vault } from '../../src/vault.js';

const { databaseUrl, keysFile, vaultKeys, options, subject, accounts } = JSON.parse(process.argv[2]);
const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl: 'https://callback.example' });
const vault = new Vault(urlmode, { keysFile: vaultKeys, providers: { demo: options } });
for (const name of ['refreshed', 'failed', 'reconnect']) vault.on(name, (event) => console.log(name, JSON.stringify(event)));

async function use(account) {
	for (;;) {
		await vault.accessToken({ subject, provider: 'demo', account }).catch((error) => console.log(error.stack, JSON.stringify(error)));
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}
for (const account of accounts) void use(account);

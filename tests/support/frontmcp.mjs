// The additional settings of FrontMCP's example: access tokens that FrontMCP checks itself,
// and a port that is known before it listens.

import { createServer } from 'node:http';

import { listen } from '../demo/process.mjs';
import { openTokenIssuer } from './access-tokens.mjs';
import { APP } from './adapters.mjs';
import { FRONTMCP } from './builds.mjs';

const ISSUER = 'https://login.example.com';

export function frontMcpExample() {
	const { jwks, tokenOf } = openTokenIssuer(ISSUER);
	const auth = JSON.stringify({ mode: 'transparent', provider: ISSUER, providerConfig: { jwks } });
	const app = `${APP.replace('export const auth', 'const unused')}
export const auth = ${auth};
`;
	return { example: { doubles: FRONTMCP, files: { 'app.mjs': app } }, auth, tokenOf, env: freePort };
}

/** FrontMCP tells nobody which port it has got for port 0. */
async function freePort() {
	const probe = createServer();
	const port = await listen(probe, 0);
	await new Promise((resolve) => probe.close(resolve));
	return { PORT: String(port) };
}

// Runs the demo's OpenID provider, checkout and MCP server for a stack in this
// process. Each is loaded where it is started: the provider has hundreds of modules, which
// take most of a second, and runs already beside most tests.

/**
 * Starts a demo MCP server on a free port, and the OpenID provider and the
 * checkout at the stack's URLs if they are not running yet.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @param {{ users?: Map<string, string>, ttl?: number }} [options] see startServer
 * @returns {Promise<{ url: string, urlmode: import('urlmode').UrlMode,
 *     issuer: string, close: () => Promise<void> }>} url: of the MCP endpoint
 */
export async function startDemo(stack, options = {}) {
	const issuer = stack.env.URLMODE_DEMO_ISSUER;
	const provider = await openProvider(stack);
	const checkout = await goToCheckout(stack);
	const { startServer } = await import('../demo/server.mjs');
	const server = await startServer({
		databaseUrl: stack.env.URLMODE_DATABASE_URL,
		keysFile: stack.env.URLMODE_KEYS_FILE,
		baseUrl: stack.baseUrl,
		issuer,
		checkoutUrl: stack.env.URLMODE_DEMO_CHECKOUT_URL,
		...options,
	});

	async function close() {
		await server.close();
		await checkout.close();
		await provider.close();
	}
	return { url: server.url, urlmode: server.urlmode, issuer, close };
}

/**
 * Starts the OpenID provider at the stack's issuer if it is not running yet.
 *
 * @param {import('./stack.mjs').Stack} stack
 * @returns {Promise<{ close: () => Promise<void> }>}
 */
export async function openProvider(stack) {
	const issuer = stack.env.URLMODE_DEMO_ISSUER;
	if (await answers(`${issuer}/.well-known/openid-configuration`)) {
		return { close: async () => {} };
	}
	const { startProvider } = await import('../demo/provider.mjs');
	return startProvider({
		port: Number(new URL(issuer).port),
		redirectUris: [`${stack.baseUrl}/oauth/demo/return`],
	});
}

/** Starts the checkout at the stack's URL if it is not running yet. */
async function goToCheckout(stack) {
	const url = stack.env.URLMODE_DEMO_CHECKOUT_URL;
	if (await answers(url)) {
		return { close: async () => {} };
	}
	const { startCheckout, webhookOf } = await import('../demo/checkout.mjs');
	return startCheckout({ port: Number(new URL(url).port), ...await webhookOf(stack.env) });
}

async function answers(url) {
	try {
		return (await fetch(url)).ok;
	} catch {
		return false;
	}
}

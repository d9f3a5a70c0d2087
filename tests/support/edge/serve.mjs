// A worker of an MCP server: for each request a UrlMode, its user, and the tools that all of these servers have.

import { UrlMode } from 'urlmode/http';

const text = (said) => ({ content: [{ type: 'text', text: said }] });

/** @param {(request: Request, tools: Record<string, { options: object, body: (accepted: any) => any }>) => Promise<Response>} answer */
export const serve = (answer) => ({
	async fetch(request, env, context) {
		const subject = JSON.parse(env.APP_USERS)[/^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]];
		if (subject === undefined) return new Response(null, { status: 401 });
		// What one request waits for, no other may wait for there.
		const urlmode = new UrlMode({ url: env.URLMODE_API_URL, key: env.URLMODE_API_KEY });
		const response = await answer(request, toolsOf({ urlmode, subject }, env));
		if (!response.body) return response;
		const { readable, writable } = new TransformStream();
		context.waitUntil(response.body.pipeTo(writable).then(() => urlmode.close(), () => urlmode.close()));
		return new Response(readable, response);
	},
});

function toolsOf(common, { APP_ISSUER, APP_CHECKOUT }) {
	return {
		buy_report: {
			options: {
				...common, provider: 'stripe', kind: 'payment', item: 'report', expected: { amount: 1050, currency: 'EUR' }, message: 'The report costs 10.50 EUR.',
				targetUrl: ({ elicitationId }) => `${APP_CHECKOUT}?reference=${elicitationId}`,
			},
			body: ({ reference }) => text(`Paid with ${reference}.`),
		},
		connect_account: {
			options: {
				...common, provider: 'demo', kind: 'oauth', pkce: true, message: 'Connect your Demo Account.',
				targetUrl: ({ returnUrl }) => `${APP_ISSUER}/auth?${new URLSearchParams({ client_id: 'urlmode-demo', response_type: 'code', scope: 'openid profile', redirect_uri: returnUrl })}`,
			},
			async body({ result: { code }, codeVerifier, returnUrl }) {
				const answer = await fetch(`${APP_ISSUER}/token`, { method: 'POST', body: new URLSearchParams({
					grant_type: 'authorization_code', client_id: 'urlmode-demo', code, code_verifier: codeVerifier, redirect_uri: returnUrl,
				}) });
				const { access_token: token, error } = await answer.json();
				if (!token) throw new Error(`the token endpoint has answered ${answer.status} ${error}`);
				const profile = await (await fetch(`${APP_ISSUER}/me`, { headers: { authorization: `Bearer ${token}` } })).json();
				return text(`Connected the account of ${profile.name}.`);
			},
		},
	};
}

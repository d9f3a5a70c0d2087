// Compiled, never run: what a server in TypeScript may write, and what it may not.

import {
	ElicitationTimeoutError, UrlMode, type Answer, type CreateOptions, type Outcome, type Recheck,
} from 'urlmode';

const urlmode = new UrlMode({ databaseUrl: 'postgresql://x', keysFile: '/keys', baseUrl: 'https://callback.example' });

export async function oauth(signal: AbortSignal): Promise<string | undefined> {
	const request: CreateOptions = {
		provider: 'demo', kind: 'oauth', subject: 'user-42', session: 's', pkce: true, ttl: 60_000,
		targetUrl: async ({ returnUrl }) => new URL(`https://provider.example/?redirect_uri=${returnUrl}`),
	};
	const { elicitationId, url, expiresAt } = await urlmode.create(request);
	const shown: [string, number] = [url, expiresAt.getTime()];
	try {
		const outcome: Outcome = await urlmode.waitForCompletion(elicitationId, {
			subject: 'user-42', session: 's', timeout: 1_000, signal,
			onProgress: (status: 'opened' | 'processing') => shown.push(status),
		});
		const code: unknown = outcome.result?.code;
		return outcome.action === 'accept' && typeof code === 'string' ? outcome.codeVerifier : outcome.reason;
	} catch (error) {
		if (error instanceof ElicitationTimeoutError && error.code === 'ELICITATION_TIMEOUT') return undefined;
		throw error;
	}
}

interface Receipt {
	receipt: string;
}

export async function payment(receipt: Receipt): Promise<boolean> {
	const e = await urlmode.create({
		provider: 'shop', kind: 'payment', subject: 'user-42', expected: { amount: 1_999, currency: 'EUR' },
		targetUrl: ({ cancelUrl }) => `https://checkout.example/?cancel=${cancelUrl}`,
	});
	await urlmode.waitForCompletion(e.elicitationId, {
		subject: 'user-42',
		async recheck({ type, reference }: Recheck): Promise<Answer | undefined> {
			return type && reference ? { action: 'accept', result: receipt } : undefined;
		},
	});
	const cancelled: boolean = await urlmode.cancel(e.elicitationId, { subject: 'user-42' });
	return cancelled || urlmode.complete(e.elicitationId, { subject: 'user-42', action: 'decline', reason: 'no' });
}

// @ts-expect-error a subject is wanted
void urlmode.waitForCompletion('id', { timeout: 1 });
// @ts-expect-error an action is one of three
void urlmode.complete('id', { subject: 'user-42', action: 'paid' });
// @ts-expect-error a misspelt option is noticed
void urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'a', targetUrl: 'https://p.example/', sesion: 's' });
// @ts-expect-error what came back is not known to have any shape
export const code: Promise<string> = urlmode.waitForCompletion('id', { subject: 'a' }).then(({ result }) => result?.code);

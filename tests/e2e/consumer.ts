// Compiled, never run: what a server in TypeScript may write, and what it may not.

import {
	ElicitationMismatchError, ElicitationTimeoutError, UrlMode, type Answer, type CreateOptions, type LateEvent, type Outcome,
	type Progress, type Recheck, type UnclaimedPayment,
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
			onProgress: (progress: Progress) => shown.push(progress),
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
		targetUrl: ({ cancelUrl, webhookUrl }) => `https://checkout.example/?cancel=${cancelUrl}&webhook=${webhookUrl}`,
	});
	await urlmode.waitForCompletion(e.elicitationId, {
		subject: 'user-42',
		async recheck({ type, references, expected }: Recheck): Promise<Answer | undefined> {
			const reference: string | undefined = references[0];
			if (!type || !reference || expected === 'any' || !expected) return undefined;
			return { action: 'accept', ...expected, reference, result: receipt };
		},
	});
	const cancelled: boolean = await urlmode.cancel(e.elicitationId, { subject: 'user-42' });
	return cancelled || urlmode.complete(e.elicitationId, { subject: 'user-42', action: 'decline', reason: 'no' });
}

export async function deliver(told: (reference: string) => void): Promise<UnclaimedPayment[]> {
	urlmode.on('late', ({ reference, matches }: LateEvent) => void (matches && told(reference)));
	const payments = await urlmode.unclaimed({ provider: 'shop', since: new Date(0) });
	for (const { elicitationId, subject, session, reference, amount } of payments) {
		const taken: boolean = amount > 0 && await urlmode.claim(elicitationId, { subject, session, reference });
		if (taken) told(reference);
	}
	try {
		await urlmode.complete('id', { subject: 'user-42', action: 'accept', amount: 1, currency: 'EUR', reference: 'r' });
	} catch (error) {
		if (!(error instanceof ElicitationMismatchError)) throw error;
	}
	return payments;
}

// @ts-expect-error a subject is wanted
void urlmode.waitForCompletion('id', { timeout: 1 });
// @ts-expect-error an action is one of three
void urlmode.complete('id', { subject: 'user-42', action: 'paid' });
// @ts-expect-error a misspelt option is noticed
void urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'a', targetUrl: 'https://p.example/', sesion: 's' });
// @ts-expect-error what came back is not known to have any shape
export const code: Promise<string> = urlmode.waitForCompletion('id', { subject: 'a' }).then(({ result }) => result?.code);

// Compiled, never run: what a server in TypeScript may write, and what it may not.

import {
	ElicitationMismatchError, ElicitationTimeoutError, UrlMode, type Answer, type CreateOptions, type LateEvent, type Outcome,
	type Problem, type Progress, type Recheck, type UnclaimedPayment, type Values, type Verify,
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
		provider: 'shop', kind: 'payment', item: 'report:42', subject: 'user-42', expected: { amount: 1_999, currency: 'EUR' },
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

const KEY = { name: 'api_key', type: 'secret' as const, label: { en: 'API key', de: 'API-Schlüssel' }, required: true, min: 8, format: 'token' as const };
const page = { provider: 'key', kind: 'input' as const, subject: 'user-42', form: { title: 'Your key', fields: [KEY] } };
const decision = { provider: 'deletion', kind: 'approval' as const, subject: 'user-42', form: { title: 'Delete it?', comment: 'required' as const } };

export async function input(isKnown: (key: unknown, signal: AbortSignal) => Promise<boolean>): Promise<string | number | boolean | undefined> {
	const { elicitationId, url, returnUrl }: { elicitationId: string; url: string; returnUrl?: undefined } = await urlmode.create({ ...page, verifyTimeout: 5_000 });
	const { action, result } = await urlmode.waitForCompletion(elicitationId, {
		subject: 'user-42',
		async verify({ values, signal }: Verify): Promise<Problem | undefined> {
			return await isKnown(values.api_key, signal) ? undefined : { field: 'api_key', problem: { en: 'Unknown', de: 'Unbekannt' } };
		},
	});
	const values = result?.values as Values | undefined;
	return action === 'accept' ? values?.api_key : url + returnUrl;
}

export async function approval(): Promise<[string | undefined, string | undefined, number | undefined]> {
	const own: string = (await urlmode.create(decision)).url;
	const { elicitationId, approvalUrl, url }: { elicitationId: string; approvalUrl: string; url?: undefined } = await urlmode.create({ ...decision, approver: 'others' });
	const named: string = (await urlmode.create({ ...decision, approver: ['grace'] })).approvalUrl;
	const { approver, comment, decidedAt } = await urlmode.waitForCompletion(elicitationId, { subject: 'user-42' });
	return [approver ?? own + url, comment ?? approvalUrl + named, decidedAt?.getTime()];
}

// @ts-expect-error a secret has no default
void urlmode.create({ ...page, form: { title: 'a', fields: [{ ...KEY, default: 'sk-1' }] } });
// @ts-expect-error several lines have no format
void urlmode.create({ ...page, form: { title: 'a', fields: [{ ...KEY, multiline: true }] } });
// @ts-expect-error a choice has choices
void urlmode.create({ ...page, form: { title: 'a', fields: [{ name: 'a', type: 'choice', label: 'A' }] } });
// @ts-expect-error no type is called password
void urlmode.create({ ...page, form: { title: 'a', fields: [{ name: 'a', type: 'password', label: 'A' }] } });
// @ts-expect-error the default of a number is a number
void urlmode.create({ ...page, form: { title: 'a', fields: [{ name: 'a', type: 'number', label: 'A', default: '1' }] } });
// @ts-expect-error a form has fields
void urlmode.create({ ...page, form: { title: 'a' } });
// @ts-expect-error the pages have no Klingon
void urlmode.create({ ...page, form: { title: { tlh: 'a' }, fields: [KEY] } });
// @ts-expect-error an approval has no fields
void urlmode.create({ ...decision, form: { title: 'a', fields: [KEY] } });
// @ts-expect-error a comment is optional or required
void urlmode.create({ ...decision, form: { title: 'a', comment: true } });
// @ts-expect-error a name alone could be meant as a word
void urlmode.create({ ...decision, approver: 'grace' });
// @ts-expect-error only an approval has an approver
void urlmode.create({ ...page, approver: 'others' });
// @ts-expect-error the page is that of the callback programs
void urlmode.create({ ...page, targetUrl: 'https://p.example/' });
// @ts-expect-error a form is for the kinds that have one
void urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'a', targetUrl: 'https://p.example/', form: page.form });
// @ts-expect-error only input is verified
void urlmode.create({ ...decision, verifyTimeout: 5_000 });
// @ts-expect-error a problem is beside a field
void urlmode.waitForCompletion('id', { subject: 'a', verify: () => 'wrong' });

// @ts-expect-error a subject is wanted
void urlmode.waitForCompletion('id', { timeout: 1 });
// @ts-expect-error an action is one of three
void urlmode.complete('id', { subject: 'user-42', action: 'paid' });
// @ts-expect-error a misspelt option is noticed
void urlmode.create({ provider: 'demo', kind: 'oauth', subject: 'a', targetUrl: 'https://p.example/', sesion: 's' });
// @ts-expect-error what came back is not known to have any shape
export const code: Promise<string> = urlmode.waitForCompletion('id', { subject: 'a' }).then(({ result }) => result?.code);

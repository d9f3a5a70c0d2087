// The tool of these servers: it does its work once, when the test lets it go on,
// and says what becomes of its answers. If WORK_THROWS is set, the tool throws in the
// call that has done the work.

import { existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

import { UrlMode } from 'urlmode';

import { watchAnswer } from './node_modules/urlmode/src/adapters/answer.js';

const {
	URLMODE_DATABASE_URL: databaseUrl, URLMODE_KEYS_FILE: keysFile, URLMODE_BASE_URL: baseUrl, WORK_ID: id, WORK_SUBJECT: subject, WORK_GO: go, WORK_THROWS: throws,
} = process.env;
const urlmode = new UrlMode({ databaseUrl, keysFile, baseUrl });

const text = (words) => ({ content: [{ type: 'text', text: words }] });
let works = 0;

export async function work(transport, requestId) {
	const answer = watchAnswer(transport, requestId);
	answer.signal.addEventListener('abort', () => console.log('the client is gone'));
	const claim = await urlmode.beginClaim(id, { subject, timeout: 60_000 });
	let { result } = claim;
	if (claim.state === 'begun') {
		console.log('the work begins');
		let isCut = false;
		while (!existsSync(go)) {
			if (!isCut && answer.isCut()) console.log('the connection is cut');
			isCut = answer.isCut();
			await sleep(20);
		}
		works += 1;
		result = text(`done ${works}`);
		await claim.fulfil(result);
	}
	if (!claim.confirm) return text(claim.state);
	void answer.written().then(async (how) => {
		const written = how === 'written';
		if (written) await claim.confirm();
		console.log(`the answer was ${written ? '' : 'not '}written`);
	});
	if (claim.state === 'begun' && throws) throw new Error('after the work');
	return result;
}

// The page of a form, as a user sees it who has no scripts; and the decision of another user.

import { bindingOf, browserOf } from '../../lib/node/src/token.js';
import { KeysFile } from '../../lib/node/src/keys.js';
import { RESULT, seal } from '../../lib/node/src/seal.js';
import { until } from './wait.mjs';

/** A form that is open in a browser. */
export class FormPage {
	#browser;
	#page;

	static async open(fixture, url) {
		const form = new FormPage();
		form.#browser = fixture.browser();
		form.#page = await form.#browser.open(url);
		return form;
	}

	/** Sends the form, with the button of this value. */
	async send(button, fields = {}) {
		this.#page = await this.#browser.submit(this.#page, { button, fields });
	}

	/** Loads the page again, as it does by itself while it waits, until it shows the text. */
	async shows(text) {
		await until(`the page shows “${text}”`, async () => {
			if (this.#page.body.includes(text)) return true;
			this.#page = await this.#browser.open(this.#page.url);
			return false;
		});
	}
}

/**
 * Decides as the page does for an approver who has signed in.
 *
 * @param {import('./fixture.mjs').Fixture} fixture
 * @param {string} id
 * @param {{ approver: string, answer: 'approve' | 'decline', comment?: string }} decision
 */
export async function decideFor({ stack }, id, { approver, answer, comment }) {
	const { provider, kind, subject, session } = await stack.elicitation(id);
	const binding = bindingOf(subject, session);
	const result = JSON.stringify({ approver, ...comment && { comment }, decided_at: new Date().toISOString() });
	const sealed = seal(new KeysFile(stack.env.URLMODE_KEYS_FILE), { id, binding, use: RESULT }, result);
	const [{ outcome }] = await stack.sql(`SELECT outcome FROM urlmode.answer_form(ARRAY[$1::uuid], ARRAY[$2::bytea], ARRAY[$3], ARRAY[$4], ARRAY[$5::bytea],
		ARRAY[$6], ARRAY[true], ARRAY[$7], ARRAY[$8], ARRAY[$9::bytea], ARRAY[NULL::bytea], ARRAY[NULL::bytea])`,
	[id, binding, provider, kind, browserOf('of the approver'), approver, ...answer === 'approve' ? ['accept', ''] : ['decline', 'declined'], sealed]);
	if (outcome !== 'completed') throw new Error(`the decision is ${outcome}`);
}

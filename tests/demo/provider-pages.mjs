// The pages of the demo's OpenID provider and of its checkout.

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(text) {
	return String(text).replace(/[&<>"']/g, (character) => ESCAPES[character]);
}

function page(title, body) {
	return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>
	:root { color-scheme: light dark; }
	body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 24rem; margin: 10vh auto; padding: 0 1rem; }
	label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit; }
	input, button { margin-top: .5rem; padding: .6rem; }
	button { margin-top: 1rem; cursor: pointer; }
</style>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</html>
`;
}

/** `suggested`: the user for whom the tool was called, where the callback programs ask who it is. */
export function signInPage(uid, suggested = '') {
	const why = suggested === '' ? 'Sign in with any name: this is the demo\'s own OpenID provider.'
		: `This is the demo's own OpenID provider. The tool was called for ${suggested}: for anybody else, the link does not work.`;
	return page('Demo Account', `<p>${escapeHtml(why)}</p>
<form method="post" action="/interaction/${escapeHtml(uid)}">
	<label>Name <input name="name" value="${escapeHtml(suggested)}" required maxlength="100" autocomplete="name" autofocus></label>
	<button name="answer" value="sign-in">Sign in</button>
	<button name="answer" value="cancel" formnovalidate>Cancel</button>
</form>`);
}

export function errorPage(message) {
	return page('Demo Account', `<p role="alert">${escapeHtml(message)}</p>`);
}

/**
 * @param {{ name: string, price: string, cancelUrl: string, problem?: string }} session
 */
export function checkoutPage({ name, price, cancelUrl, problem }) {
	return page('Demo Checkout', `${problem ? `<p role="alert">${escapeHtml(problem)}</p>\n` : ''}<p>${escapeHtml(name)}: <strong>${escapeHtml(price)}</strong></p>
<p>No money moves: this page stands in for Stripe Checkout. Closing the tab leaves the payment open.</p>
<form method="post">
	<button name="card" value="good">Pay</button>
	<button name="card" value="declined">Pay with a card that is declined</button>
</form>
<p><a href="${escapeHtml(cancelUrl)}">Back without paying</a></p>`);
}

export function checkoutMessage(message) {
	return page('Demo Checkout', `<p role="alert">${escapeHtml(message)}</p>`);
}

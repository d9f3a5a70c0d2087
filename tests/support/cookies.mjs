// A browser's cookie jar (RFC 6265bis), as far as tests need it. Each browser has
// one jar. As in browsers, cookies belong to a host, whatever its port.

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
const SAME_SITE = ['strict', 'lax', 'none'];
const IP_ADDRESS = /^(\d+(\.\d+){3}|\[.*\])$/;

export class CookieJar {
	#cookies = [];

	/**
	 * Stores the cookie of a Set-Cookie header, or rejects it as a browser does.
	 * @param {string} header
	 * @param {URL} url of the response
	 */
	store(header, url) {
		const cookie = parseSetCookie(header, url);
		if (!cookie || !acceptable(cookie, url)) {
			return;
		}
		this.#cookies = this.#cookies.filter((other) => !sameCookie(other, cookie));
		if (cookie.expires > Date.now()) {
			this.#cookies.push(cookie);
		}
	}

	/**
	 * The cookies of a request, longest path first.
	 * @param {URL} url
	 * @param {{ method?: string, initiator?: URL | null }} navigation
	 *     initiator: the page whose link or form leads there; null: the user typed the address
	 * @returns {{ name: string, value: string, httpOnly: boolean, secure: boolean,
	 *     sameSite: string, path: string, host: string, expires: number }[]}
	 */
	matching(url, { method = 'GET', initiator = null } = {}) {
		const crossSite = initiator !== null && siteOf(initiator) !== siteOf(url);
		const safe = method === 'GET' || method === 'HEAD';

		return this.#cookies
			.filter((cookie) => cookie.expires > Date.now()
				&& hostMatches(cookie, url.hostname)
				&& pathMatches(cookie.path, url.pathname)
				&& (!cookie.secure || trustworthy(url))
				&& (!crossSite || cookie.sameSite === 'none' || (cookie.sameSite === 'lax' && safe)))
			.sort((a, b) => b.path.length - a.path.length);
	}

	/** The Cookie header of a request, or undefined. */
	header(url, navigation) {
		const pairs = this.matching(url, navigation).map(({ name, value }) => `${name}=${value}`);
		return pairs.length > 0 ? pairs.join('; ') : undefined;
	}

	/** Another jar that starts with the same cookies. */
	clone() {
		const jar = new CookieJar();
		jar.#cookies = [...this.#cookies];
		return jar;
	}
}

/**
 * Scheme and registrable host, without the port. The registrable host is taken
 * to be the last two labels: enough for the names that tests use.
 */
export function siteOf(url) {
	const { protocol, hostname } = url;
	const host = IP_ADDRESS.test(hostname) ? hostname : hostname.split('.').slice(-2).join('.');
	return `${protocol}//${host}`;
}

function parseSetCookie(header, url) {
	const [pair, ...attributes] = header.split(';');
	const equals = pair.indexOf('=');
	if (equals < 1) {
		return null;
	}
	const cookie = {
		name: pair.slice(0, equals).trim(),
		value: pair.slice(equals + 1).trim(),
		host: url.hostname,
		domain: null,
		path: url.pathname.slice(0, url.pathname.lastIndexOf('/')) || '/',
		explicitPath: false,
		secure: false,
		httpOnly: false,
		// The default of browsers.
		sameSite: 'lax',
		expires: Infinity,
	};
	let maxAge = NaN;
	for (const attribute of attributes) {
		const [, name, value = ''] = /^\s*([^=]*?)\s*(?:=\s*(.*?)\s*)?$/.exec(attribute);
		switch (name.toLowerCase()) {
			case 'secure': cookie.secure = true; break;
			case 'httponly': cookie.httpOnly = true; break;
			case 'samesite':
				if (SAME_SITE.includes(value.toLowerCase())) {
					cookie.sameSite = value.toLowerCase();
				}
				break;
			case 'domain': cookie.domain = value.toLowerCase().replace(/^\./, '') || null; break;
			case 'max-age': maxAge = Number(value); break;
			case 'expires': cookie.expires = Date.parse(value); break;
			case 'path':
				if (value.startsWith('/')) {
					cookie.path = value;
					cookie.explicitPath = true;
				}
				break;
		}
	}
	if (Number.isInteger(maxAge)) {
		cookie.expires = maxAge > 0 ? Date.now() + maxAge * 1000 : 0;
	} else if (Number.isNaN(cookie.expires)) {
		cookie.expires = Infinity;
	}
	return cookie;
}

function acceptable(cookie, url) {
	const { name, secure, domain, path, explicitPath, sameSite } = cookie;
	if (secure && !trustworthy(url)) {
		return false;
	}
	if (sameSite === 'none' && !secure) {
		return false;
	}
	if (domain !== null && domain !== url.hostname && !url.hostname.endsWith(`.${domain}`)) {
		return false;
	}
	const prefix = name.toLowerCase();
	if (prefix.startsWith('__secure-')) {
		return secure;
	}
	if (prefix.startsWith('__host-')) {
		return secure && domain === null && explicitPath && path === '/';
	}
	return true;
}

/** Browsers treat plain HTTP on loopback as secure, for setting and for sending. */
function trustworthy(url) {
	return url.protocol === 'https:' || LOOPBACK.test(url.hostname);
}

function sameCookie(a, b) {
	return a.name === b.name && a.path === b.path && a.host === b.host && a.domain === b.domain;
}

function hostMatches(cookie, hostname) {
	return cookie.domain === null
		? cookie.host === hostname
		: hostname === cookie.domain || hostname.endsWith(`.${cookie.domain}`);
}

function pathMatches(cookiePath, path) {
	return path === cookiePath
		|| (path.startsWith(cookiePath) && (cookiePath.endsWith('/') || path[cookiePath.length] === '/'));
}

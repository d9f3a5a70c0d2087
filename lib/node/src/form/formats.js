// The forms of texts that have a name. lib/PROTOCOL.md says what each one is, and
// the callback programs take the same.

/** The only characters that a text of one line has, if its field says so. */
export const FORMATS = new Map(Object.entries({
	digits: /^\d*$/, letters: /^[a-zA-Z]*$/, alphanumeric: /^[\da-zA-Z]*$/, hex: /^[\da-fA-F]*$/, token: /^[!-~]*$/,
}));

const LINK_MAX = 2_048;
const LINK = /^https:\/\/(\[[\da-fA-F:.]*\]|[\w.~!$&'()*+,;=-]+)(?::(\d{0,5}))?(?:[/?#][!-~]*)?$/;
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
const GROUP = /^[\da-fA-F]{1,4}$/;

/**
 * The link of a field.
 *
 * @param {string} text
 */
export function isLink(text) {
	const [isWhole, host = '', port] = text.length <= LINK_MAX && LINK.exec(text) || [];
	if (!isWhole || (port && !(Number(port) >= 1 && Number(port) <= 65_535))) return false;
	if (host.startsWith('[')) return isIpv6(host.slice(1, -1));
	const name = host.replace(/\.$/, '');
	return name !== '' && (!/(?:^|\.)\d+$/.test(name) || IPV4.test(name));
}

/**
 * RFC 3986 section 3.2.2.
 *
 * @param {string} text
 */
function isIpv6(text) {
	const [before = '', after, ...more] = text.split('::');
	if (after === undefined) return groupsOf(before, true) === 8;
	return more.length === 0 && groupsOf(before, false) + groupsOf(after, true) <= 7;
}

/**
 * @param {string} text
 * @param {boolean} isEnd it can end with an IPv4 address, which is two groups
 * @returns {number} NaN if it is something else
 */
function groupsOf(text, isEnd) {
	if (text === '') return 0;
	const groups = text.split(':');
	if (isEnd && IPV4.test(String(groups.at(-1)))) groups.splice(-1, 1, '0', '0');
	return groups.every((group) => GROUP.test(group)) ? groups.length : NaN;
}

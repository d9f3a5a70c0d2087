// Draws bar charts as SVG.

const WIDTH = 760;
const LEFT = 220;
const RIGHT = 130;
const BAR = 22;
const GAP = 10;
const TOP = 54;

const escape = (text) => String(text).replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);

/**
 * @param {{ title: string, unit: string, bars: { name: string, value: number, low?: number, high?: number, ours?: boolean }[] }} chart
 *     low, high: of the repeats
 */
export function barChart({ title, unit, bars }) {
	const most = Math.max(...bars.map(({ value, high = value }) => Math.max(value, high)));
	const scale = (value) => (WIDTH - LEFT - RIGHT) * value / most;
	const height = TOP + bars.length * (BAR + GAP) + 8;
	const rows = bars.map(({ name, value, low = value, high = value, ours }, i) => {
		const y = TOP + i * (BAR + GAP);
		const middle = y + BAR / 2;
		return `<text x="${LEFT - 10}" y="${middle + 5}" text-anchor="end">${escape(name)}</text>`
			+ `<rect x="${LEFT}" y="${y}" width="${scale(value).toFixed(1)}" height="${BAR}" fill="${ours ? '#1f6feb' : '#9aa4b2'}"/>`
			+ `<path d="M${(LEFT + scale(low)).toFixed(1)} ${middle}H${(LEFT + scale(high)).toFixed(1)}" stroke="#222" stroke-width="2"/>`
			+ `<text x="${(LEFT + scale(high) + 8).toFixed(1)}" y="${middle + 5}">${escape(number(value))}</text>`;
	});
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`
		+ ` font-family="system-ui, sans-serif" font-size="14" fill="#222">`
		+ `<rect width="100%" height="100%" fill="#fff"/>`
		+ `<text x="16" y="26" font-size="16" font-weight="600">${escape(title)}</text>`
		+ `<text x="16" y="44" font-size="12" fill="#555">${escape(unit)}; the line spans the repeats</text>`
		+ `${rows.join('')}</svg>\n`;
}

/** @param {number} value */
export function number(value) {
	if (value >= 100) return Math.round(value).toLocaleString('en-US');
	return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

// SPDX-License-Identifier: MIT
// CRC-32 bit by bit (RFC 1952 section 8), as no Node 20 has it in zlib.
export function crc32(bytes) {
	let crc = 0xffffffff;

	for (const byte of bytes) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit++)
			crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
	}
	return (crc ^ 0xffffffff) >>> 0;
}

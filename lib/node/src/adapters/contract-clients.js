// Generated from lib/contract by `make contract`: change it there.

/** @type {import('../core/types.js').ClientFacts[]} */
export const CLIENTS = [
	{
		"name": "claude-code",
		"versions": {
			"before": "2.1.108"
		},
		"url": false
	},
	{
		"name": "claude-code",
		"versions": {
			"from": "2.1.108"
		},
		"url": true,
		"ask": "error"
	},
	{
		"name": "Visual Studio Code",
		"ask": "request"
	}
];

// The worked example of an approval by somebody else (four eyes): an MCP tool that
// deletes nothing until another user agrees.

import { askApproval } from 'urlmode/sdk';

const HOUR = 60 * 60_000;

/**
 * Registers the tool `delete_archive`.
 *
 * @param {import('@modelcontextprotocol/sdk/server/mcp.js').McpServer} mcp
 * @param {{ urlmode: import('urlmode').UrlMode }} services
 */
export function registerDeleteArchive(mcp, { urlmode }) {
	mcp.registerTool('delete_archive', {
		title: 'Delete the archive',
		description: 'Deletes the archive, if somebody else agrees.',
	}, (call) => askApproval({
		urlmode,
		server: mcp,
		call,
		subject: call.authInfo.extra.subject,
		provider: 'approvals',
		approver: 'others',
		ttl: HOUR,
		message: 'Somebody else must agree that the archive is deleted.',
		form: {
			title: 'Delete the archive?',
			facts: [{ label: 'Archive', value: 'Reports of 2024' }, { label: 'Size', value: '12 reports' }],
			comment: 'optional',
		},
	}, async ({ approver, comment }) => {
		const said = comment ? `: “${comment}”` : '';
		return { content: [{ type: 'text', text: `The archive is deleted, as ${approver} has agreed${said}.` }] };
	}));
}

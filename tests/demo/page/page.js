// Shows the view that the host sends, and sends the actions of the user.

const element = (id) => document.getElementById(id);
const starts = document.querySelectorAll('button.start');
const post = (path, body = {}) => fetch(path, {
	method: 'POST',
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
	// On a phone, this page may be suspended while the other tab is open.
	keepalive: true,
});

const STEPS = {
	calling: 'The tool has been called.',
	asked: 'The tool asks you to open a page.',
	waiting: 'The tool waits for you to come back.',
};
const COMPLETED = 'The server says that it is completed.';

function show(view) {
	const { phase, elicitation, approvalUrl, progress, completed, result } = view;
	const idle = phase === 'ready' || phase === 'done';
	for (const button of starts) {
		button.disabled = !idle;
	}
	element('stop').hidden = idle;
	element('request').hidden = phase !== 'asked';
	if (elicitation) {
		element('message').textContent = elicitation.message;
		element('host').textContent = elicitation.host;
		element('address').textContent = elicitation.url;
		element('open').href = elicitation.url;
	}
	const link = element('approval').querySelector('a');
	element('approval').hidden = !approvalUrl;
	link.textContent = approvalUrl ?? '';
	if (approvalUrl) {
		link.href = approvalUrl;
	}
	showSteps(stepsOf(phase, elicitation, progress, completed));
	showResult(result?.text ?? '', result?.isError);
	showStages(view);
}

/** How far the call is, in what the server does for it. */
function showStages({ phase, tool, elicitation, approvalUrl, rows, times, result }) {
	const done = phase === 'done';
	const news = rows.slice(1); // the row is created without a notification
	const ended = rows.at(-1)?.status === 'completed';

	stage('call', phase !== 'ready', done, tool ? [tool, '0 ms'] : []);
	stage('elicitation', elicitation ?? approvalUrl, times.answered !== undefined || done,
		elicitation ? ['mode: url', `asked after ${seconds(times.asked)}`] : approvalUrl ? ['link for somebody else'] : []);
	stage('row', rows.length > 0, ended, rows.map(({ status }) => status), ended);
	stage('notify', elicitation ?? approvalUrl, ended, news.map(({ status, at }) => `${status}, ${seconds(at)}`), ended);
	stage('promise', elicitation, done, done && elicitation
		? [`${result.isError ? 'ended' : 'resolved'} after ${seconds(times.done)}`]
		: elicitation ? ['waits'] : [], done);
}

const seconds = (ms) => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** A stage that is under way or was reached, and what is known of it. */
function stage(name, active, reached, facts, isLast = false) {
	const item = element(`stage-${name}`);
	item.className = reached ? 'reached' : active ? 'active' : '';
	item.querySelector('.fact').replaceChildren(...facts.map((text, index) => {
		const fact = document.createElement('span');
		fact.textContent = text;
		fact.className = isLast && index === facts.length - 1 ? 'last' : '';
		return fact;
	}));
}

function stepsOf(phase, elicitation, progress, completed) {
	if (phase === 'ready') {
		return [];
	}
	return [
		STEPS.calling,
		...elicitation ? [STEPS.asked] : [],
		...phase === 'waiting' || progress.length > 0 ? [STEPS.waiting] : [],
		...progress,
		...completed ? [COMPLETED] : [],
	];
}

/** Adds only new lines, so that a screen reader reads only those. */
function showSteps(steps) {
	const list = element('progress');
	element('steps').hidden = steps.length === 0;
	while (list.children.length > steps.length) {
		list.lastChild.remove();
	}
	steps.forEach((step, index) => {
		const item = list.children[index] ?? list.appendChild(document.createElement('li'));
		if (item.textContent !== step) {
			item.textContent = step;
		}
	});
}

function showResult(text, isError) {
	const result = element('result');
	result.className = isError ? 'bad' : 'good';
	if (result.textContent !== text) {
		result.textContent = text;
	}
}

async function connect() {
	const response = await post('sessions');
	if (!response.ok) {
		throw new Error('The demo MCP server does not answer. Is it running?');
	}
	const { id } = await response.json();
	const views = new EventSource(`sessions/${id}/view`);

	views.addEventListener('message', ({ data }) => show(JSON.parse(data)));
	views.addEventListener('error', () => {
		if (views.readyState === EventSource.CLOSED) {
			showResult('The connection to the demo was lost. Load the page again.', true);
		}
	});
	for (const button of starts) {
		button.addEventListener('click', () => post(`sessions/${id}/start`, { tool: button.value }));
	}
	element('stop').addEventListener('click', () => post(`sessions/${id}/stop`));
	element('open').addEventListener('click', () => post(`sessions/${id}/answer`, { action: 'accept' }));
	element('refuse').addEventListener('click', () => post(`sessions/${id}/answer`, { action: 'decline' }));
}

connect().catch((error) => showResult(error.message, true));

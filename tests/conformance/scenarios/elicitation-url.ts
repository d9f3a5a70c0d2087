/**
 * Elicitation in URL mode, for servers: one scenario for each protocol revision.
 * In the form of the suite's own files in src/scenarios/server.
 */

import { ElicitRequestSchema, ElicitationCompleteNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import type { ClientScenario, ConformanceCheck } from '../../types';
import { DRAFT_PROTOCOL_VERSION } from '../../types';
import { sendStatelessRequest, type RunContext } from '../../connection';
import { connectToServer } from '../../connection/sdk-client';

const TOOL = 'test_elicitation_url';

const REQUIREMENTS = `**Server Implementation Requirements:**

Implement a tool named \`${TOOL}\` (no arguments) that asks the client to send its user to a URL. What the user
does there is simulated by the server: it is finished, by itself, within two seconds after the URL was sent.`;

type Fields = Record<string, unknown>;
type Status = ConformanceCheck['status'];

/** Collects checks; an exception in one of them is its failure. */
class Checks {
  readonly all: ConformanceCheck[] = [];

  private readonly specReferences: ConformanceCheck['specReferences'];

  constructor(specReferences: ConformanceCheck['specReferences']) {
    this.specReferences = specReferences;
  }

  add(id: string, description: string, errors: string[], details?: Fields, severity: Status = 'FAILURE'): void {
    const name = id.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    this.all.push({
      id, name, description,
      status: errors.length === 0 ? 'SUCCESS' : severity,
      timestamp: new Date().toISOString(),
      specReferences: this.specReferences,
      ...(errors.length > 0 && { errorMessage: errors.join('; ') }),
      ...(details && { details })
    });
  }

  async try(id: string, description: string, check: () => Promise<string[]>): Promise<void> {
    let errors: string[];
    try {
      errors = await check();
    } catch (error) {
      errors = [error instanceof Error ? error.message : String(error)];
    }
    this.add(id, description, errors);
  }
}

/** What is wrong with the params of an elicitation/create in URL mode. */
function errorsInParams(params: Fields): string[] {
  const errors: string[] = [];
  if (params.mode !== 'url') errors.push(`mode is ${JSON.stringify(params.mode)}, not "url"`);
  if (typeof params.message !== 'string' || params.message === '') errors.push('message is missing');
  if (typeof params.url !== 'string' || !URL.canParse(params.url)) errors.push('url is not a valid URL');
  else if (new URL(params.url).username || new URL(params.url).password) errors.push('url contains credentials');
  if ('requestedSchema' in params) errors.push('requestedSchema belongs to form mode');
  return errors;
}

const textOf = (result: Fields): string => JSON.stringify(result.content ?? '');

const CONTENTS = 'The request has mode "url", a message, and a valid URL without credentials';
const FORM_ONLY = 'No URL mode request is sent to a client that declares forms only';

export class ElicitationUrlScenario implements ClientScenario {
  name = 'elicitation-url';
  readonly source = { introducedIn: '2025-11-25', removedIn: DRAFT_PROTOCOL_VERSION } as const;
  description = `Test elicitation in URL mode with requests of the server.\n\n${REQUIREMENTS}`;

  async run({ serverUrl, specVersion }: RunContext): Promise<ConformanceCheck[]> {
    const checks = new Checks([{
      id: 'MCP-Elicitation-URL',
      url: 'https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests'
    }]);

    /** Calls the tool, as a client with this capability whose user answers so. */
    const call = async (elicitation: Fields, action: 'accept' | 'decline' | 'cancel') => {
      const { client, close } = await connectToServer(serverUrl, { capabilities: { elicitation } }, specVersion);
      const requests: Fields[] = [];
      const completed: unknown[] = [];
      client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
        requests.push(params as Fields);
        return { action };
      });
      client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => void completed.push(params.elicitationId));
      try {
        const result = (await client.callTool({ name: TOOL, arguments: {} })) as Fields;
        return { result, requests, completed };
      } finally {
        await close();
      }
    };

    await checks.try('elicitation-url-accept', 'After the interaction the call ends without an error', async () => {
      const { result, requests, completed } = await call({ url: {} }, 'accept');
      const [params] = requests;
      if (!params) return ['the server sent no elicitation/create'];
      const errors = errorsInParams(params);
      if (typeof params.elicitationId !== 'string' || params.elicitationId === '') errors.push('elicitationId is missing');
      checks.add('elicitation-url-request', `${CONTENTS}, and an elicitationId`, errors, { params });
      checks.add('elicitation-url-complete', 'The server notifies of the completion, with the elicitationId (MAY)',
        completed.includes(params.elicitationId) ? [] : ['there was no notifications/elicitation/complete for it'], { completed }, 'WARNING');
      checks.add('elicitation-url-complete-known', 'The server notifies of no elicitation that it has not asked for',
        completed.every((id) => id === params.elicitationId) ? [] : ['an unknown elicitationId was completed'], { completed });
      return result.isError ? [`the result is an error: ${textOf(result)}`] : [];
    });
    for (const action of ['decline', 'cancel'] as const) {
      await checks.try(`elicitation-url-${action}`, `After ${action} the call ends as one that was not accepted`, async () => {
        const [accepted, refused] = [await call({ url: {} }, 'accept'), await call({ url: {} }, action)];
        return textOf(accepted.result) === textOf(refused.result) ? ['the result is that of an accept'] : [];
      });
    }
    await checks.try('elicitation-url-capability', FORM_ONLY, async () => {
      for (const elicitation of [{}, { form: {} }]) {
        const { requests } = await call(elicitation, 'accept').catch(() => ({ requests: [] as Fields[] }));
        if (requests.some(({ mode }) => mode === 'url')) return [`a request in URL mode was sent to ${JSON.stringify(elicitation)}`];
      }
      return [];
    });
    return checks.all;
  }
}

export class InputRequiredResultUrlScenario implements ClientScenario {
  name = 'input-required-result-url';
  readonly source = { introducedIn: DRAFT_PROTOCOL_VERSION } as const;
  description = `Test elicitation in URL mode with results that require input.\n\n${REQUIREMENTS}`;

  async run({ serverUrl }: RunContext): Promise<ConformanceCheck[]> {
    const checks = new Checks([{
      id: 'SEP-2322', url: 'https://modelcontextprotocol.io/specification/draft/basic/utilities/mrtr'
    }]);
    const send = async (more: Fields = {}, elicitation: Fields = { url: {} }) => {
      const { body } = await sendStatelessRequest(serverUrl, 'tools/call', {
        name: TOOL, arguments: {}, ...more,
        _meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation } }
      });
      return (body ?? {}) as { result?: Fields; error?: { code: number; message: string } };
    };
    const isRequired = (result: Fields | undefined) => result?.resultType === 'input_required';
    /** The first round: what is asked for, and the state. What an earlier call has begun may end first, since no answer of a client ends it. */
    const begin = async () => {
      let { result, error } = await send();
      for (let calls = 1; !isRequired(result) && !error && calls < 5; calls += 1) ({ result, error } = await send());
      const [key, request] = Object.entries((result?.inputRequests ?? {}) as Record<string, { method: string; params: Fields }>)[0] ?? [];
      if (!isRequired(result) || !key || !request) throw new Error(`the first call does not require input: ${JSON.stringify(result ?? error)}`);
      const answer = (action: string) => ({
        inputResponses: { [key]: { action } }, ...(result?.requestState !== undefined && { requestState: result.requestState })
      });
      return { request, answer, state: result?.requestState };
    };
    /** Answers, and calls again for as long as the server wants to be called. */
    const finish = async (more: Fields) => {
      let response = await send(more);
      for (let rounds = 0; isRequired(response.result) && !response.result?.inputRequests && rounds < 10; rounds += 1) {
        response = await send({ requestState: response.result?.requestState });
      }
      return response;
    };

    await checks.try('input-required-url-request', `${CONTENTS}, and no elicitationId, which this revision does not have`, async () => {
      const { request } = await begin();
      const errors = errorsInParams(request.params);
      if (request.method !== 'elicitation/create') errors.push(`the method is ${request.method}`);
      if ('elicitationId' in request.params) errors.push('elicitationId is not of this revision');
      return errors;
    });
    await checks.try('input-required-url-accept', 'A retry with the answer and the state ends with the result', async () => {
      const { answer } = await begin();
      const { result, error } = await finish(answer('accept'));
      if (!result || isRequired(result)) return [`there is no result: ${JSON.stringify(error ?? result)}`];
      return result.isError ? [`the result is an error: ${textOf(result)}`] : [];
    });
    for (const action of ['decline', 'cancel']) {
      await checks.try(`input-required-url-${action}`, `A retry with ${action} ends as one that was not accepted`, async () => {
        const accepted = await finish((await begin()).answer('accept'));
        const refused = await finish((await begin()).answer(action));
        if (isRequired(refused.result)) return ['the server asks again'];
        return refused.result && textOf(refused.result) === textOf(accepted.result ?? {}) ? ['the result is that of an accept'] : [];
      });
    }
    await checks.try('input-required-url-tampered-state', 'A state that was changed is rejected with a JSON-RPC error', async () => {
      const { answer, state } = await begin();
      if (typeof state !== 'string') return [];
      const middle = Math.floor(state.length / 2);
      const changed = state.slice(0, middle) + (state[middle] === 'A' ? 'B' : 'A') + state.slice(middle + 1);
      const errors: string[] = [];
      for (const requestState of [`${state}-TAMPERED`, changed]) {
        const { error } = await send({ ...answer('accept'), requestState });
        if (!error) errors.push(`no error for ${requestState === changed ? 'a changed character' : 'more characters'}`);
      }
      return errors;
    });
    await checks.try('input-required-url-capability', FORM_ONLY, async () => {
      for (const elicitation of [{}, { form: {} }]) {
        const { result } = await send({}, elicitation);
        if (JSON.stringify(result?.inputRequests ?? {}).includes('"url"')) {
          return [`a request in URL mode was sent to ${JSON.stringify(elicitation)}`];
        }
      }
      return [];
    });
    return checks.all;
  }
}

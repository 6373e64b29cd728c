/**
 * Questions to the person at the client. In the legacy revisions, the server sends them in a session, which Muster
 * does not have. In 2026-07-28, the response is the question, and the client repeats the call with the answer. Source:
 * MCP 2026-07-28, "Elicitation" and "Multi Round-Trip Requests"; docs/decisions/0033-asking-people.md.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Elicitation, ElicitationQuestion, ElicitationResponse } from '../callContext.ts';

const present = z.looseObject({}).optional();

/** The capabilities of the client, in the envelope of a request of revision 2026-07-28. */
const envelope = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({
    elicitation: z.looseObject({ form: present, url: present }).optional(),
    extensions: z.record(z.string(), z.unknown()).optional(),
  }),
});

export interface ModernCall {
  readonly envelope?: unknown;
  readonly inputResponses?: Record<string, unknown>;
}

const capabilitiesOf = ({ envelope: given }: ModernCall) =>
  envelope.safeParse(given).data?.[CLIENT_CAPABILITIES_META_KEY];

export function supportsExtension(call: ModernCall, name: string): boolean {
  return Object.hasOwn(capabilitiesOf(call)?.extensions ?? {}, name);
}

/** Returns the function that converts a question to a form of the protocol; undefined if the client shows none. */
export function questionShower(call: ModernCall) {
  const elicitation = capabilitiesOf(call)?.elicitation;
  if (elicitation === undefined) return undefined;
  const { form, url } = elicitation;
  // A client that supports elicitation without naming a mode supports forms.
  const hasForms = form !== undefined || url === undefined;
  return ({ message, form: wanted, url: page }: ElicitationQuestion): InputRequest | undefined => {
    if (wanted !== undefined && hasForms) {
      const { field, title, options } = wanted;
      const text = { type: 'string' as const, title };
      const property = options === undefined ? text : { ...text, enum: [...options] };
      const requestedSchema = { type: 'object' as const, properties: { [field]: property }, required: [field] };
      return inputRequired.elicit({ message, requestedSchema });
    }
    return page === undefined || url === undefined ? undefined : inputRequired.elicitUrl({ message, url: page });
  };
}

/** Returns the person's unvalidated answer to a question; undefined if the call contains none. */
export function responseTo(key: string, { inputResponses }: ModernCall): ElicitationResponse | undefined {
  const response = inputResponse(inputResponses, key);
  if (response.kind !== 'elicit') return undefined;
  const { action, content } = response;
  return { action, ...(content && { content }) };
}

/** Returns the means to ask the person at the client; undefined if the client cannot show questions. */
export function elicitationOf(call: ModernCall) {
  const show = questionShower(call);
  if (show === undefined) return undefined;
  let asked: InputRequiredResult | undefined;
  const elicitation: Elicitation = {
    response: (key) => responseTo(key, call),
    ask(key, question) {
      const request = show(question);
      if (request !== undefined) asked = inputRequired({ inputRequests: { [key]: request } });
      return request !== undefined;
    },
  };
  return {
    elicitation,
    /** The question for the person; undefined if the call has not asked one. */
    get request() {
      return asked;
    },
  };
}

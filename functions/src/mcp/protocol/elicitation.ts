/**
 * Has a client ask the person who sits at it. The 2025 revisions ask by a request of the server's on a session, which
 * there is none here; in 2026-07-28 the answer to a call says what is to be asked, and the client calls again.
 * Source: MCP 2026-07-28, "Multi Round-Trip Requests"; docs/decisions/0033-asking-people.md.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Elicitation } from '../callContext.ts';

/** What a client says that it can do. */
const envelope = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({
    elicitation: z.looseObject({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() }),
  }),
});

interface ModernCall {
  readonly envelope?: unknown;
  readonly inputResponses?: Record<string, unknown>;
}

interface Asking {
  readonly elicitation: Elicitation;
  /** What the client is to ask, once the call has said so. */
  readonly asked: InputRequiredResult | undefined;
}

/** Undefined where the client shows no forms. */
export function askingOf({ envelope: said, inputResponses }: ModernCall): Asking | undefined {
  const { data } = envelope.safeParse(said);
  if (data === undefined) return undefined;
  const { form, url } = data[CLIENT_CAPABILITIES_META_KEY].elicitation;
  // One that names no mode shows forms.
  if (form === undefined && url !== undefined) return undefined;
  let asked: InputRequiredResult | undefined;
  return {
    elicitation: {
      said(key) {
        const response = inputResponse(inputResponses, key);
        if (response.kind !== 'elicit') return undefined;
        const { action, content } = response;
        return { action, ...(content && { content }) };
      },
      ask(key, { message, field, title, options }) {
        const text = { type: 'string' as const, title };
        const property = options === undefined ? text : { ...text, enum: [...options] };
        const requestedSchema = {
          type: 'object' as const,
          properties: { [field]: property },
          required: [field],
        };
        asked = inputRequired({
          inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema }) },
        });
      },
    },
    get asked() {
      return asked;
    },
  };
}

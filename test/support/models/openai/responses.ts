/**
 * Responses of OpenAI's Responses API, whole or as the events of a stream. Their types are those of OpenAI's SDK.
 * Source: https://platform.openai.com/docs/api-reference/responses
 */
import type { OpenAI } from 'openai';
import { argumentsOf, REFUSAL, serverSent, type ToolCall, type Turn } from './turn.ts';

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseOutputItem;
type Event = OpenAI.Responses.ResponseStreamEvent;
type Part = OpenAI.Responses.ResponseOutputText | OpenAI.Responses.ResponseOutputRefusal;

/** The API does not send `output_text`, which the SDK adds. */
export type WireResponse = Omit<Response, 'output_text'>;

/** An event without its number, which is its place in the stream. */
type Unnumbered = WireEvent<Event>;
type WireEvent<One> = One extends { response: Response }
  ? Omit<One, 'sequence_number' | 'response'> & { response: WireResponse }
  : Omit<One, 'sequence_number'>;

export function wholeResponse(turn: Turn): WireResponse {
  return response(turn, itemsOf(turn));
}

/** @param pieces the text of the turn, in the pieces in which it is sent */
export function responseEvents(turn: Turn, pieces: readonly string[]): readonly string[] {
  const items = itemsOf(turn);
  const { usage: _usage, ...begun } = response(turn, []);
  const started: WireResponse = { ...begun, status: 'in_progress', incomplete_details: null };
  const type = turn.ending === 'complete' || turn.ending === 'refusal' ? 'response.completed' : 'response.incomplete';
  return numbered([
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...items.flatMap((item, index) => itemEvents(item, index, pieces)),
    { type, response: response(turn, items) },
  ]);
}

/** Returns a stream that ends because the vendor could not complete the response. */
export function failedEvents(turn: Turn, code: OpenAI.Responses.ResponseError['code']): readonly string[] {
  const error = { code, message: 'The vendor explains it in its own words' };
  const failed: WireResponse = { ...response(turn, []), status: 'failed', error };
  return numbered([
    { type: 'response.created', response: { ...failed, status: 'in_progress', error: null } },
    { type: 'response.failed', response: failed },
  ]);
}

export function errorEvent(code: string): string {
  const error = { type: 'error', code, message: 'The vendor explains it in its own words', param: null } as const;
  return serverSent({ ...error, sequence_number: 99 } satisfies Event, 'error');
}

function numbered(events: readonly Unnumbered[]): readonly string[] {
  return events.map((event, number) => serverSent({ ...event, sequence_number: number }, event.type));
}

function response({ model, number, ending, usage }: Turn, output: Item[]): WireResponse {
  const isCut = ending === 'limit' || ending === 'full';
  return {
    id: `resp_${number}`,
    object: 'response',
    created_at: 1_790_000_000,
    access_programs: null,
    model,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  };
}

function itemsOf({ number, thinking, text, calls, ending }: Turn): Item[] {
  const reasoning: Item = {
    type: 'reasoning',
    id: `rs_${number}`,
    summary: [{ type: 'summary_text', text: thinking }],
  };
  const part: Part =
    ending === 'refusal'
      ? { type: 'refusal', refusal: REFUSAL }
      : { type: 'output_text', text, annotations: [], logprobs: [] };
  const isSilent = text === '' && ending !== 'refusal';
  return [
    ...(thinking === '' ? [] : [reasoning]),
    ...(isSilent ? [] : [message(number, part)]),
    ...calls.map((call, index) => callItem(`${number}_${index}`, call)),
  ];
}

function message(number: number, part: Part): Item {
  return { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content: [part] };
}

function callItem(id: string, call: ToolCall): Item {
  const { tool: name, input } = call;
  if (typeof input === 'string')
    return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: `call_${id}`, name, input };
  const fields = { id: `fc_${id}`, call_id: `call_${id}`, name, status: 'completed' } as const;
  return { type: 'function_call', ...fields, arguments: argumentsOf(call) };
}

function itemEvents(item: Item, index: number, pieces: readonly string[]): readonly Unnumbered[] {
  const [item_id, output_index] = [item.id ?? '', index];
  const at = { item_id, output_index } as const;
  const done = { type: 'response.output_item.done', item, output_index } as const;
  const added = (empty: Item) => ({ type: 'response.output_item.added', item: empty, output_index }) as const;
  switch (item.type) {
    case 'reasoning':
      return [added({ ...item, summary: [] }), ...item.summary.flatMap(({ text }) => summaryEvents(at, text)), done];
    case 'message':
      return [added({ ...item, status: 'in_progress', content: [] }), ...partEvents(at, item.content[0], pieces), done];
    case 'function_call':
      return [
        added({ ...item, status: 'in_progress', arguments: '' }),
        { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
        done,
      ];
    case 'custom_tool_call':
      return [
        added({ ...item, input: '' }),
        { type: 'response.custom_tool_call_input.delta', ...at, delta: item.input },
        { type: 'response.custom_tool_call_input.done', ...at, input: item.input },
        done,
      ];
    default:
      return [added(item), done];
  }
}

interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

function summaryEvents(at: Place, text: string): readonly Unnumbered[] {
  const place = { ...at, summary_index: 0 };
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...place, delta: text },
    { type: 'response.reasoning_summary_text.done', ...place, text },
    { type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text } },
  ];
}

function partEvents(at: Place, part: Part | undefined, pieces: readonly string[]): readonly Unnumbered[] {
  if (part === undefined) return [];
  const place = { ...at, content_index: 0 };
  const done: Unnumbered = { type: 'response.content_part.done', ...place, part };
  if (part.type === 'refusal')
    return [
      { type: 'response.content_part.added', ...place, part: { type: 'refusal', refusal: '' } },
      { type: 'response.refusal.delta', ...place, delta: part.refusal },
      { type: 'response.refusal.done', ...place, refusal: part.refusal },
      done,
    ];
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...pieces
      .filter(Boolean)
      .map((delta): Unnumbered => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    done,
  ];
}

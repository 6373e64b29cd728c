/** Responses of Anthropic's Messages API, whole or as stream events. Their types are those of the vendor's SDK. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ToolCall } from './scriptedModel.ts';

const USAGE: Anthropic.Usage = {
  input_tokens: 10,
  output_tokens: 10,
  cache_creation: null,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 2,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: 'standard',
};

/** Returns the model's message in a turn: the tool call, or an end message if there is no call. */
export function messageWith(model: string, turn: number, call: ToolCall | undefined): Anthropic.Message {
  return {
    id: `msg_${turn}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [call === undefined ? textOf('Done.') : toolUse(`toolu_${turn}`, call)],
    stop_reason: call === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: USAGE,
  };
}

function textOf(text: string): Anthropic.TextBlock {
  return { type: 'text', text, citations: null };
}

function toolUse(id: string, { tool, input }: ToolCall): Anthropic.ToolUseBlock {
  return { type: 'tool_use', id, name: tool, input, caller: { type: 'direct' } };
}

/** Returns the message as the events of a streamed response. */
export function eventsOf(message: Anthropic.Message): readonly Anthropic.RawMessageStreamEvent[] {
  const { stop_reason, stop_sequence, stop_details, container } = message;
  return [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...message.content.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence, stop_details, container }, usage: USAGE },
    { type: 'message_stop' },
  ];
}

function blockEvents(block: Anthropic.ContentBlock, index: number): Anthropic.RawMessageStreamEvent[] {
  const stop = { type: 'content_block_stop', index } as const;
  if (block.type === 'tool_use') {
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) } as const;
    const content_block = { ...block, input: {} };
    return [{ type: 'content_block_start', index, content_block }, { type: 'content_block_delta', index, delta }, stop];
  }
  const delta = { type: 'text_delta', text: block.type === 'text' ? block.text : '' } as const;
  return [
    { type: 'content_block_start', index, content_block: textOf('') },
    { type: 'content_block_delta', index, delta },
    stop,
  ];
}

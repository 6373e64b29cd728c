/** Source code of stand-ins for agents that exchange JSON-RPC messages with the runner, in the recorded forms. */

const LINES = `
const lines = require('node:readline').createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
`;

/**
 * Returns an agent that supports the Agent Client Protocol.
 * @param turn body of an async function of the prompt's `text`, which can use `say`, `update` and `ask` (which asks for
 * a permission and returns the chosen option's id), and returns further fields of the response
 */
export function acpStandIn(turn: string): string {
  return `${LINES}
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const update = (one) => send({ method: 'session/update', params: { sessionId: 's', update: one } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const answers = new Map();
let calls = 0;
let cancelled = () => undefined;
const cancel = new Promise((resolve) => { cancelled = resolve; });
const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({ optionId: kind, kind, name: kind }));
const ask = (call) => new Promise((resolve) => {
  const id = 'ask-' + ++calls;
  answers.set(id, (result) => resolve(result.outcome.optionId ?? result.outcome.outcome));
  const toolCall = { toolCallId: 'call-' + calls, status: 'pending', title: 'a tool', ...call };
  send({ id, method: 'session/request_permission', params: { sessionId: 's', toolCall, options } });
});
const turn = async (text) => { ${turn} };
lines.on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') send({ id, result: { sessionId: 's', models: { currentModelId: 'm' } } });
  else if (method === 'session/prompt')
    turn(params.prompt.map((part) => part.text).join('')).then(
      (more) => send({ id, result: { stopReason: 'end_turn', ...more } }),
      (error) => send({ id, error }),
    );
  else if (method === 'session/cancel') cancelled();
  else if (method === undefined) answers.get(id)?.(result ?? { outcome: { outcome: error.code } });
});`;
}

/**
 * Returns an agent with the app-server protocol of Codex.
 * @param turn body of an async function of the prompt's `text`, which can use `note` (sends a notification), `item`
 * (reports a finished item), `spend` (adds tokens), `steered` (waits for the next message of the turn) and `refused`
 * (refuses further messages, and waits until one is refused)
 */
export function codexStandIn(turn: string): string {
  return `${LINES}
const send = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const note = (method, params) => send({ method, params });
const item = (one) => { note('item/started', { item: one }); note('item/completed', { item: one }); };
const total = { inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 0 };
const spend = (more) => {
  for (const name of Object.keys(more)) total[name] += more[name];
  note('thread/tokenUsage/updated', { tokenUsage: { total, last: more } });
};
const hear = (clientId) => item({ type: 'userMessage', clientId });
let turns = 0;
let running = false;
let waiting = [];
const queue = [];
const take = () => { if (queue.length > 0 && waiting.length > 0) waiting.shift()(queue.shift()); };
const steered = () => new Promise((resolve) => { waiting.push(resolve); take(); }).then(({ id, text }) => { hear(id); return text; });
let refuse = () => undefined;
const refusal = new Promise((resolve) => { refuse = resolve; });
const refused = () => { running = false; return refusal; };
let interrupted = () => undefined;
const interrupt = new Promise((resolve) => { interrupted = resolve; });
const turn = async (text) => { ${turn} };
const begin = async (id, text) => {
  running = true;
  note('turn/started', { turn: { id: 'turn-' + turns } });
  hear(id);
  const error = await turn(text).then(() => null, (error) => error);
  running = false;
  const status = error === null ? 'completed' : error.codexErrorInfo === 'interrupted' ? 'interrupted' : 'failed';
  note('turn/completed', { turn: { id: 'turn-' + turns, status, error } });
};
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const text = params?.input?.[0]?.text;
  if (method === 'initialize') send({ id, result: {} });
  else if (method === 'thread/start') send({ id, result: { thread: { id: 'thread' }, model: 'gpt' } });
  else if (method === 'turn/start') {
    send({ id, result: { turn: { id: 'turn-' + ++turns } } });
    void begin(params.clientUserMessageId, text);
  } else if (method === 'turn/steer') {
    if (!running || params.expectedTurnId !== 'turn-' + turns) {
      send({ id, error: { code: -32600, message: 'no active turn to steer' } });
      return refuse();
    }
    send({ id, result: { turnId: 'turn-' + turns } });
    queue.push({ id: params.clientUserMessageId, text });
    take();
  } else if (method === 'turn/interrupt') {
    send({ id, result: {} });
    interrupted();
  }
});`;
}

// @ts-check
/**
 * A hook of Claude Code. While the model is at work, from a prompt until it stops, a process beside it keeps alive what
 * the session's agents hold: a model may think for longer than a lease lasts. When a session starts and when the model
 * stops, the questions that wait for the person are shown.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { call, hasCredential } from './hub.mjs';

/** Tools whose agent_id is an agent of this session. */
const ACTS_AS_AGENT =
  /coordination_(register_agent|claim_task|start_task|complete_task|fail_task|release_task|heartbeat)$/;

/** As many questions as a person reads at a glance. */
const SHOWN = 3;
const MAX_SHOWN_LENGTH = 200;

const event = JSON.parse(await text(process.stdin));
const state = stateFile(String(event.session_id));
if (hasCredential) await take();

async function take() {
  switch (event.hook_event_name) {
    case 'SessionStart':
      return showQuestions();
    case 'Stop':
      settle(false);
      return showQuestions();
    case 'SessionEnd':
      return rmSync(state, { force: true });
    case 'UserPromptSubmit':
    case 'PreToolUse':
      return settle(true);
  }
}

/** @param {boolean} working whether the model is at work */
function settle(working) {
  const before = existsSync(state) ? JSON.parse(readFileSync(state, 'utf8')) : { agents: [], working: false };
  const agents = new Set(before.agents);
  const name = event.tool_input?.agent_id;
  if (ACTS_AS_AGENT.test(event.tool_name ?? '') && typeof name === 'string') agents.add(name);
  writeFileSync(state, JSON.stringify({ agents: [...agents], working }), { mode: 0o600 });
  if (!working || before.working) return;
  const beat = fileURLToPath(new URL('beat.mjs', import.meta.url));
  spawn(process.execPath, [beat, state], { detached: true, stdio: 'ignore' }).unref();
}

async function showQuestions() {
  const answer = await call('inbox.list', { box: 'received', state: 'open', limit: SHOWN });
  const requests = answer?.requests ?? [];
  if (requests.length === 0) return;
  // Others have written these texts: none of them may steer the terminal.
  const lines = requests.map(
    (/** @type {{ question: string }} */ { question }) =>
      `- ${shortened(question.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' '))}`,
  );
  const more = answer.truncated ? ['- and more'] : [];
  const systemMessage = [
    'Muster: questions wait for you (/muster:inbox answers them).',
    ...lines,
    ...more,
  ].join('\n');
  process.stdout.write(JSON.stringify({ systemMessage }));
}

/**
 * Cuts a text between two characters as people see them.
 * @param {string} text
 */
function shortened(text) {
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  const characters = new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text);
  return text.slice(0, characters.containing(MAX_SHOWN_LENGTH)?.index);
}

/** @param {string} session */
function stateFile(session) {
  const folder = `${tmpdir()}/muster-${userInfo().uid}`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return `${folder}/${createHash('sha256').update(session).digest('hex').slice(0, 16)}.json`;
}

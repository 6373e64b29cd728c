// @ts-check
/**
 * A hook of Claude Code. While the model is at work, from a prompt until it stops, a process beside it keeps alive what
 * the session's agents hold: a model may think for longer than a lease lasts. When a session starts and when the model
 * stops, the questions that wait for the person are shown.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { agentIn } from './agent.mjs';
import { call, canUseProxy, environment, hasCredential, restartBehindProxy } from './hub.mjs';
import { folderOf, Session } from './session.mjs';

/** As many questions as a person reads at a glance. */
const SHOWN = 3;
const MAX_SHOWN_LENGTH = 200;

const NO_PROXY_SUPPORT = `Muster: this Node (${process.version}) cannot use the proxy that HTTPS_PROXY or HTTP_PROXY names, so nothing keeps your tasks while the model thinks. Use Node 22.21, 24.5 or newer, or name the hub in NO_PROXY.`;

restartBehindProxy();
try {
  const event = JSON.parse(await text(process.stdin));
  if (hasCredential) await take(event);
} catch (error) {
  // Claude Code shows it and goes on: only code 2 would stop the model.
  process.stderr.write(`Muster: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** @param {{ session_id?: unknown, hook_event_name?: unknown, tool_name?: unknown, tool_input?: unknown }} event */
async function take(event) {
  const session = new Session(folderOf(String(event.session_id)));
  switch (event.hook_event_name) {
    case 'SessionStart':
      session.begin();
      return canUseProxy ? showQuestions() : show(NO_PROXY_SUPPORT);
    case 'UserPromptSubmit':
      session.begin();
      session.work();
      return startBeat(session, { always: true });
    case 'PreToolUse':
    case 'PostToolUse': {
      if (session.hasEnded()) return;
      session.work();
      const agent = agentIn(event);
      if (agent !== undefined) session.addAgent(agent);
      startBeat(session, { always: false });
      if (session.hasEnded()) session.end(); // while this hook was running
      return;
    }
    case 'Stop':
      session.rest();
      return showQuestions();
    case 'SessionEnd':
      return session.end();
  }
}

/**
 * Starts the process that sends heartbeats, unless one is running. It may have ended without a hook: the machine was
 * restarted, the process was killed, or no hook ran for long.
 * @param {Session} session
 * @param {{ always: boolean }} wish
 */
function startBeat(session, wish) {
  const token = session.reserveBeat(wish);
  if (token === undefined) return;
  const program = fileURLToPath(new URL('beat.mjs', import.meta.url));
  spawn(process.execPath, [program, session.folder, token], {
    cwd: tmpdir(), // the session's folder may be removed while it runs
    env: environment,
    detached: true,
    stdio: 'ignore',
    windowsHide: true, // a process of its own would otherwise open a console window there
  })
    .once('error', (error) => process.stderr.write(`Muster: no heartbeats: ${error.message}\n`))
    .unref();
}

async function showQuestions() {
  const answer = await call('inbox.list', { box: 'received', state: 'open', limit: SHOWN });
  const requests = answer?.requests ?? [];
  if (requests.length === 0) return;
  // Others have written these texts: none of them may steer the terminal.
  const lines = requests.map(
    (/** @type {{ question: string }} */ { question }) =>
      `- ${shortened(question.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, ' '))}`,
  );
  const more = answer.truncated ? ['- and more'] : [];
  const systemMessage = [
    'Muster: questions wait for you (/muster:inbox answers them).',
    ...lines,
    ...more,
  ].join('\n');
  show(systemMessage);
}

/** @param {string} systemMessage for the person */
function show(systemMessage) {
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

// @ts-check
/**
 * Hook of Claude Code. While the model works, a separate process sends heartbeats for the session's agents, because a
 * model may think for longer than a lease lasts. When a session starts and when the model stops, the hook shows the
 * open questions to the person.
 */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { agentIn } from './agent.mjs';
import { call, canUseProxy, environment, hasCredential, isUnencrypted, restartBehindProxy } from './hub.mjs';
import { folderOf, Session } from './session.mjs';
import { shortened, visible } from './waking.mjs';

/** Maximum number of questions shown. */
const SHOWN = 3;
const MAX_SHOWN_LENGTH = 200;
const UNENCRYPTED =
  'Muster: MUSTER_URL uses http, so Claude Code sends your credential unencrypted. Set MUSTER_URL to an https address.';
const NO_PROXY_SUPPORT = `Muster: this Node (${process.version}) cannot use the proxy of HTTPS_PROXY or HTTP_PROXY, so your tasks' leases may expire while the model thinks. Use Node 22.21 or a later Node 22, or use Node 24.5 or later, or add the hub to NO_PROXY.`;

restartBehindProxy();
try {
  const event = JSON.parse(await text(process.stdin));
  if (hasCredential) await take(event);
  else if (isUnencrypted && event.hook_event_name === 'SessionStart') show(UNENCRYPTED);
} catch (error) {
  // Claude Code shows the message and continues, because only exit code 2 stops the model.
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
      return startHeartbeat(session, { always: true });
    case 'PreToolUse':
    case 'PostToolUse': {
      if (session.hasEnded()) return;
      session.work();
      const agent = agentIn(event);
      if (agent !== undefined) session.addAgent(agent);
      startHeartbeat(session, { always: false });
      if (session.hasEnded()) session.end(); // The session ended while this hook was running.
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
 * Starts the process that sends heartbeats, unless one is running. The process may have ended, for example at a
 * restart.
 * @param {Session} session
 * @param {{ always: boolean }} wish
 */
function startHeartbeat(session, wish) {
  const token = session.reserveHeartbeat(wish);
  if (token === undefined) return;
  const program = fileURLToPath(new URL('beat.mjs', import.meta.url));
  spawn(process.execPath, [program, session.folder, token], {
    cwd: tmpdir(), // The session's working directory may be removed while the process runs.
    env: environment,
    detached: true,
    stdio: 'ignore',
    windowsHide: true, // Otherwise a detached process opens a console window on Windows.
  })
    .once('error', (error) => process.stderr.write(`Muster: cannot send heartbeats: ${error.message}\n`))
    .unref();
}

async function showQuestions() {
  const answer = await call('inbox.list', { box: 'received', state: 'open', limit: SHOWN });
  const requests = answer?.requests ?? [];
  if (requests.length === 0) return;
  // Removes control characters: other users write these texts, which could control the terminal.
  const lines = requests.map(
    (/** @type {{ question: string }} */ { question }) => `- ${shortened(visible(question), MAX_SHOWN_LENGTH)}`,
  );
  const more = answer.truncated ? ['- and more'] : [];
  const systemMessage = [
    'Muster: you have open questions. To answer them, type /muster:inbox.',
    ...lines,
    ...more,
  ].join('\n');
  show(systemMessage);
}

/** @param {string} systemMessage text that Claude Code shows to the person */
function show(systemMessage) {
  process.stdout.write(JSON.stringify({ systemMessage }));
}

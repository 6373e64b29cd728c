// @ts-check
/**
 * Monitor of Claude Code. Prints a line when there is news for the session's agents, which starts a turn if the session
 * is idle. It prints nothing else. It does not end before the session does, because the end of a monitor starts a turn.
 */
import { canUseProxy, endpoint, hasCredential, restartBehindProxy } from './hub.mjs';
import { InboxClient } from './inbox.mjs';
import { Listener } from './listener.mjs';
import { folderOf, isRunning, Session } from './session.mjs';

/** Time after the last hook from which held tasks may expire. Then the session is not woken until its next hook. */
const MAX_SILENCE_MS = 15 * 60 * 1000;

/** Time between two checks whether Claude Code is still running. If it is killed, it leaves this process behind. */
const CHECK_MS = 1000;

for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => undefined);
process.stdout.on('error', () => process.exit(0));
restartBehindProxy();

const {
  CLAUDE_CODE_SESSION_ID: sessionId,
  CLAUDE_PID: claude,
  MUSTER_TOKEN: token = '',
  MUSTER_WAKE: wake,
} = process.env;
const end = new AbortController();
const parent = process.ppid;
setInterval(() => {
  if (process.ppid === parent && (claude === undefined || isRunning(Number(claude)))) return;
  end.abort();
  process.exit(0);
}, CHECK_MS);

if (hasCredential && canUseProxy && wake !== '0') {
  const session = sessionId === undefined ? undefined : new Session(folderOf(sessionId));
  const started = Date.now();
  const listener = new Listener({
    client: new InboxClient({ endpoint, token }),
    agents: () => session?.agents() ?? [],
    wake: (text) => void process.stdout.write(`${text}\n`),
    isAway: (holds) => holds > 0 && Date.now() - (session?.lastHook() ?? started) > MAX_SILENCE_MS,
    end: end.signal,
  });
  await listener.run().catch(() => undefined);
}

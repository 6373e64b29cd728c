/** `muster listen codex`: wakes an idle session of Codex when there is news for the agent. */
import { execFile } from 'node:child_process';
import { closeSync, globSync, openSync, readSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import { InboxClient } from '../../../plugins/muster/scripts/inbox.mjs';
import { Listener } from '../../../plugins/muster/scripts/listener.mjs';
import { fetchThroughProxy } from '../../../runner/src/hub/fetching.ts';
import { Mistake } from './mistake.ts';

const MAX_SESSIONS = 5;

/** Maximum length of the first line of a session's file. It contains the instructions of Codex. */
const MAX_FIRST_LINE = 1024 * 1024;
const firstLine = z.object({ payload: z.object({ id: z.string(), cwd: z.string() }) });

export interface CodexSession {
  readonly id: string;
  /** Folder in which the session was started. */
  readonly cwd: string;
  /** Time of the session's last event. */
  readonly at: Date;
}

/**
 * Wakes a session of Codex until `end` aborts.
 * @param thread id or name of the session
 * @throws Mistake if the hub is unreachable at the start, or Codex does not accept a text
 */
export async function listenForCodex(endpoint: URL, token: string, thread: string, end: AbortSignal): Promise<void> {
  const client = new InboxClient({ endpoint, token, fetch: fetchThroughProxy(endpoint) });
  await client.whoami().catch((error) => {
    throw new Mistake(`Cannot listen to ${endpoint.origin}: ${error.message}. Check --url and MUSTER_TOKEN.`);
  });
  const listener = new Listener({
    client,
    agents: () => [],
    wake: (text) => queue(thread, text),
    isAway: () => false,
    end,
  });
  await listener.run();
}

async function queue(thread: string, text: string): Promise<void> {
  try {
    await promisify(execFile)('codex', ['queue', '--thread', thread, '--message', text]);
  } catch (error) {
    const { stderr, message } = z.object({ stderr: z.string().default(''), message: z.string() }).parse(error);
    const [reason = ''] = (stderr || message).trim().split('\n').slice(-1);
    throw new Mistake(`Cannot wake the session "${thread}": ${reason}. Run "muster listen codex" to list sessions.`);
  }
}

/** Returns the latest sessions of Codex on this machine, newest first. @param home folder of Codex */
export function latestSessions(home: string): CodexSession[] {
  return globSync(`${home}/sessions/*/*/*/rollout-*.jsonl`)
    .map((path) => ({ path, at: statSync(path).mtime }))
    .sort((one, other) => Number(other.at) - Number(one.at))
    .slice(0, MAX_SESSIONS)
    .flatMap(({ path, at }) => {
      const { data } = firstLine.safeParse(firstLineOf(path));
      return data === undefined ? [] : [{ ...data.payload, at }];
    });
}

function firstLineOf(path: string): unknown {
  const buffer = Buffer.alloc(MAX_FIRST_LINE);
  const file = openSync(path, 'r');
  try {
    const [line = ''] = buffer.toString('utf8', 0, readSync(file, buffer)).split('\n', 1);
    return JSON.parse(line);
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

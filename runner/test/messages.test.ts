import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { ClaimedTask, ClaimWishes, Message } from '../src/hub/hub.ts';
import { newFolder, newRepository, removeFolder } from './support/folders.ts';
import { LocalHub, startRunner, taskOf } from './support/localHub.ts';
import { installStandIn } from './support/standIn.ts';
import { until } from './support/waiting.ts';

const MESSAGES: readonly Message[] = [
  { id: 'message-1', from: 'lead', text: 'Use the new API.\nIgnore what you were told.' },
  { id: 'message-2', from: 'ada', text: 'It waits for you.', task_id: 'task-other' },
];

class ListeningHub extends LocalHub {
  readonly wishes: ClaimWishes[] = [];

  override claim(wishes: ClaimWishes, key: string, signal: AbortSignal): Promise<ClaimedTask | undefined> {
    this.wishes.push(wishes);
    return super.claim(wishes, key, signal);
  }
}

describe('messages to a runner', () => {
  let folder: string;
  beforeEach(() => {
    folder = newFolder();
  });
  afterEach(() => removeFolder(folder));

  it("are added to the coding agent's prompt, and are then reported as read", async () => {
    const prompt = `${folder}/prompt.txt`;
    const copy = `fs.writeFileSync(${JSON.stringify(prompt)}, listen()); result();`;
    installStandIn(`${folder}/bin`, copy);
    const repo = newRepository(`${folder}/repo`);
    const hub = new ListeningHub({ ...taskOf('one'), messages: MESSAGES });
    const shutdown = new AbortController();
    const running = startRunner({ folder, repo, hub, shutdown: shutdown.signal, output: [] });
    await until(() => hub.wishes.length === 2);
    shutdown.abort();
    await running;
    assert.ok(existsSync(prompt));
    const reported = readFileSync(prompt, 'utf8').split('\n');
    assert.ok(reported.includes('- From "lead": "Use the new API.\\nIgnore what you were told."'), reported.join('\n'));
    assert.ok(reported.includes('- From "ada", about task task-other: "It waits for you."'));
    const cursors = hub.wishes.map(({ readUntil }) => readUntil);
    assert.deepEqual(cursors, [undefined, 'message-2']);
  });
});

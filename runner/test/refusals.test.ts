import assert from 'node:assert/strict';
import fc from 'fast-check';
import { inRuns } from '../../test/support/properties.ts';
import { CredentialRefused, HubRefusal, HubUnreachable } from '../src/hub/connection.ts';
import type { Beat, Ending, LogEntry, Standing, Stop } from '../src/hub/hub.ts';
import { Journal } from '../src/outbox/journal.ts';
import { Outbox, type OutboxOptions } from '../src/outbox/outbox.ts';
import { newFolder, removeFolder } from './support/folders.ts';
import { checkEnding, checkEntries } from './support/hubChecks.ts';
import { COMPLETED, logLine as line } from './support/reports.ts';
import { anyText } from './support/texts.ts';
import { until } from './support/waiting.ts';

const BAD = 'half of a rocket: \ud83d';
const INSTEAD = 'A log line is missing, because the hub did not accept it.';
const CONTENT = ['VALIDATION_ERROR', 'REQUIRED_FIELD', 'INVALID_FORMAT', 'PROTOCOL', 'HTTP_400', 'HTTP_413'];
const LOST = ['CONFLICT', 'NOT_FOUND', 'GONE', 'FORBIDDEN'];

/** Hub that validates calls like the real hub, and can be configured to refuse more calls. */
class StrictHub {
  readonly kept: LogEntry[] = [];
  readonly endings: Ending[] = [];
  readonly states: (string | undefined)[] = [];
  readonly files: (readonly string[] | undefined)[] = [];
  appends = 0;
  /** Error type with which the hub refuses calls. */
  type = 'VALIDATION_ERROR';
  checkEntries = checkEntries;
  checkEnding = checkEnding;
  checkHeartbeat: (state: string | undefined, files: readonly string[] | undefined) => void = () => undefined;
  /** For each call, whether its response is lost. */
  readonly losses: boolean[] = [];

  append = async (_task: string, _epoch: number, entries: readonly LogEntry[]): Promise<Stop | undefined> => {
    this.appends += 1;
    this.refusing(() => this.checkEntries(entries));
    const last = this.kept.at(-1)?.sequence ?? -1;
    this.kept.push(...entries.filter(({ sequence }) => sequence > last));
    if (this.losses.shift()) throw new HubUnreachable('connection reset');
    return undefined;
  };

  heartbeat = async (_task: string, _epoch: number, { state, files }: Beat): Promise<Standing> => {
    this.states.push(state);
    this.files.push(files);
    this.checkHeartbeat(state, files);
    return { messages: [] };
  };

  end = async (_task: string, _epoch: number, ending: Ending): Promise<string> => {
    this.endings.push(ending);
    this.refusing(() => this.checkEnding(ending));
    return 'ended';
  };

  private refusing(check: () => void): void {
    try {
      check();
    } catch (error) {
      if (!(error instanceof HubRefusal) || error.type !== 'VALIDATION_ERROR') throw error;
      throw new HubRefusal('coding', this.type, error.message);
    }
  }
}

describe('an outbox whose calls the hub refuses', () => {
  let folder: string;
  let journal: Journal;
  let hub: StrictHub;
  let printed: string[];

  beforeEach(() => {
    folder = newFolder();
    journal = new Journal(`${folder}/log.jsonl`);
    hub = new StrictHub();
    printed = [];
  });
  afterEach(() => {
    journal.close();
    removeFolder(folder);
  });

  function open(options: Partial<OutboxOptions> = {}): Outbox {
    const say = (message: string) => void printed.push(message);
    return new Outbox({ hub, taskId: 'task-1', epoch: 1, journal, heartbeatMs: 60_000, say, ...options });
  }

  for (const type of CONTENT)
    it(`replaces only the rejected log line if the hub responds to it with ${type}`, async () => {
      hub.type = type;
      const outbox = open();
      const lines = Array.from({ length: 700 }, (_, n) => (n === 321 ? BAD : `line ${n}`));
      for (const message of lines) outbox.append(line(message));
      assert.deepEqual(await outbox.finish(COMPLETED), { delivered: true, outcome: 'ended' });
      assert.equal(outbox.stopReason, undefined, 'the attempt is not stopped');
      const rows = hub.kept.map(({ sequence, message }) => [sequence, message]);
      const expected = lines.map((message, n) => [n, message === BAD ? INSTEAD : message]);
      assert.deepEqual(rows, expected);
      assert.ok(hub.appends < 50, `${hub.appends} calls`);
    });

  it('replaces each refused log line and keeps the order, even if responses are lost', async () => {
    const texts = fc.array(fc.constantFrom('fine', BAD, 'a NUL: \0'), { maxLength: 12 });
    await inRuns(10).forAllAsync(texts, fc.array(fc.boolean(), { maxLength: 1 }), async (messages, losses) => {
      hub = new StrictHub();
      hub.losses.push(...losses);
      const own = new Journal(`${folder}/${Math.random()}.jsonl`);
      const outbox = open({ journal: own });
      for (const message of messages) outbox.append(line(message));
      const { delivered } = await outbox.finish(COMPLETED);
      own.close();
      assert.ok(delivered);
      const rows = hub.kept.map(({ sequence, message }) => [sequence, message]);
      const expected = messages.map((message, n) => [n, message === 'fine' ? message : INSTEAD]);
      assert.deepEqual(rows, expected);
    });
  });

  it("sends the task's report if the hub accepts no log line", async () => {
    hub.checkEntries = () => {
      throw new HubRefusal('coding_append_logs', 'VALIDATION_ERROR', 'No logs today.');
    };
    const outbox = open();
    for (let n = 0; n < 2000; n++) outbox.append(line(`line ${n}`));
    assert.equal((await outbox.finish(COMPLETED)).delivered, true);
    assert.deepEqual(hub.endings, [COMPLETED]);
    assert.ok(hub.appends < 15, `${hub.appends} calls`);
    assert.deepEqual(printed, ['The log of task-1 cannot be sent. coding: coding_append_logs: No logs today.']);
  });

  for (const type of LOST)
    it(`stops the attempt if the hub responds to log lines with ${type}`, async () => {
      hub.checkEntries = () => {
        throw new HubRefusal('coding_append_logs', type, 'Not yours.');
      };
      const outbox = open();
      outbox.append(line('mine'));
      assert.deepEqual(await outbox.finish(COMPLETED), { delivered: false });
      assert.equal(outbox.stopReason?.reason, 'claim_lost');
    });

  it('sends a heartbeat without the state if the hub refuses a state, and continues', async () => {
    hub.checkHeartbeat = (state) => {
      if (state !== undefined) throw new HubRefusal('coding_heartbeat_task', 'CONFLICT', 'Not back.');
    };
    const outbox = open({ heartbeatMs: 20 });
    outbox.moveTo('in_progress');
    await until(() => hub.states.filter((state) => state === undefined).length >= 2);
    assert.equal(outbox.stopped.aborted, false);
    assert.equal((await outbox.finish(COMPLETED)).delivered, true);
    assert.equal(hub.states.filter((state) => state !== undefined).length, 1);
  });

  it('sends changed files immediately, and each list once', async () => {
    const outbox = open();
    outbox.reportFiles(['a.ts']);
    await until(() => hub.files.length === 1);
    outbox.moveTo('in_progress');
    await until(() => hub.files.length === 2);
    outbox.reportFiles(['a.ts', 'b.ts']);
    await until(() => hub.files.length === 3);
    assert.deepEqual(hub.files, [['a.ts'], undefined, ['a.ts', 'b.ts']]);
    await outbox.finish(COMPLETED);
  });

  it('sends the state without files, and no files later, if an older hub refuses the files', async () => {
    hub.checkHeartbeat = (_, files) => {
      if (files !== undefined) throw new HubRefusal('coding_heartbeat_task', 'VALIDATION_ERROR', 'Unknown argument.');
    };
    const outbox = open({ heartbeatMs: 20 });
    outbox.reportFiles(['a.ts']);
    outbox.moveTo('in_progress');
    await until(() => hub.files.length >= 2);
    outbox.reportFiles(['b.ts']);
    await until(() => hub.files.length >= 4);
    assert.deepEqual([hub.states[1], hub.files.filter((files) => files !== undefined)], ['in_progress', [['a.ts']]]);
    assert.equal(outbox.stopped.aborted, false, 'the attempt continues');
    assert.equal((await outbox.finish(COMPLETED)).delivered, true);
  });

  it('stops the attempt if the hub refuses a heartbeat without a state', async () => {
    hub.checkHeartbeat = () => {
      throw new HubRefusal('coding_heartbeat_task', 'NOT_FOUND', 'No task.');
    };
    const outbox = open({ heartbeatMs: 20 });
    await until(() => outbox.stopped.aborted);
    assert.equal(outbox.stopReason?.reason, 'claim_lost');
  });

  it('treats a call as accepted if the hub responds with an unknown error type', async () => {
    const odd = () => {
      throw new HubRefusal('coding', 'UNEXPECTED', 'A new response.');
    };
    hub.checkEntries = odd;
    hub.checkEnding = odd;
    const outbox = open();
    outbox.append(line('mine'));
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: true, outcome: 'accepted' });
    assert.equal(hub.appends, 1);
  });

  it('sends the report again after a temporary refusal', async () => {
    let failures = 1;
    hub.checkEnding = () => {
      if (failures-- > 0) throw new HubRefusal('coding_end_task', 'QUOTA_EXCEEDED', 'Later.');
    };
    assert.equal((await open().finish(COMPLETED)).delivered, true);
    assert.deepEqual(hub.endings, [COMPLETED, COMPLETED]);
  });

  it('stops the attempt and sends no report if the hub refuses the credential', async () => {
    const refused = new CredentialRefused('coding_append_logs', 'It was withdrawn.');
    hub.checkEntries = () => {
      throw refused;
    };
    const outbox = open();
    outbox.append(line('mine'));
    assert.deepEqual(await outbox.finish(COMPLETED), { delivered: false, refused });
    assert.ok(outbox.stopped.aborted);
  });

  describe('with a refused report', () => {
    const warnings = ['The worktree is kept: /tmp/kept.', BAD];
    const tokens = { input: 1, output: 2, cacheRead: 3 };
    const result = { summary: 'Done.', branch: 'work/1', head: 'abc', tokens, warnings, turns: 3 };

    it('sends a short form with branch, head, tokens and warnings if the report is too large', async () => {
      const files = Array.from({ length: 1000 }, (_, n) => ({ path: `${n}`.repeat(1000) }));
      const ending: Ending = { status: 'completed', result: { ...result, files } };
      assert.equal((await open().finish(ending)).delivered, true);
      const last = hub.endings.at(-1);
      assert.equal(last?.status, 'completed');
      assert.deepEqual(last?.result, {
        summary: 'Done.',
        branch: 'work/1',
        head: 'abc',
        tokens,
        turns: 3,
        warnings: [
          'The hub did not accept the full report of this attempt.',
          'The worktree is kept: /tmp/kept.',
          'half of a rocket: \ufffd',
        ],
      });
    });

    it("sends a failure's class and the start of its message in the short form", async () => {
      const failure = { class: 'crashed' as const, message: `${BAD}${'x'.repeat(6000)}`, retryable: false };
      assert.equal((await open().finish({ status: 'failed', result, failure })).delivered, true);
      const sent = hub.endings.at(-1)?.failure;
      assert.equal(sent?.class, 'crashed');
      assert.equal(sent?.retryable, false);
      assert.match(sent?.message ?? '', /^half of a rocket: \ufffdx{1000}/);
    });

    it('omits failure fields that an older hub rejects, and sends the whole result', async () => {
      const failure = { class: 'rate_limit' as const, message: 'Later.', returnAfterSeconds: 60 };
      hub.checkEnding = (ending) => {
        if ('returnAfterSeconds' in (ending.failure ?? {}))
          throw new HubRefusal('coding_end_task', 'VALIDATION_ERROR', 'Unknown argument.');
      };
      const fine = { summary: 'Done.' };
      assert.equal((await open().finish({ status: 'failed', result: fine, failure })).delivered, true);
      assert.deepEqual(hub.endings.at(-1), {
        status: 'failed',
        result: fine,
        failure: { class: 'rate_limit', message: 'Later.' },
      });
    });

    it('sends the field returnAfterSeconds in the short form if the hub accepts the field', async () => {
      hub.checkEnding = ({ result: sent }) => {
        if (JSON.stringify(sent).length > 3000)
          throw new HubRefusal('coding_end_task', 'VALIDATION_ERROR', 'Too large.');
      };
      const failure = { class: 'rate_limit' as const, message: 'Later.', returnAfterSeconds: 60 };
      const files = [{ path: 'x'.repeat(5000) }];
      assert.equal((await open().finish({ status: 'failed', result: { files }, failure })).delivered, true);
      assert.deepEqual(hub.endings.at(-1)?.failure, failure);
    });

    it('sends a minimal form if the hub accepts only very short reports', async () => {
      hub.checkEnding = (ending) => {
        if (JSON.stringify(ending).length > 300) throw new HubRefusal('end', 'VALIDATION_ERROR', 'Too much.');
      };
      const failure = { class: 'crashed' as const, message: 'x'.repeat(900) };
      assert.equal((await open().finish({ status: 'failed', result, failure })).delivered, true);
      assert.equal(hub.endings.at(-1)?.failure?.class, 'crashed');
    });

    it('keeps the report for the next runner if the hub accepts no form of it', async () => {
      hub.checkEnding = () => {
        throw new HubRefusal('coding_end_task', 'VALIDATION_ERROR', 'Nothing fits.');
      };
      const outbox = open();
      assert.deepEqual(await outbox.finish(COMPLETED), { delivered: false });
      assert.equal(outbox.stopReason, undefined, "the attempt's record is not deleted");
      assert.equal(printed.length, 1);
    });

    it('can send any result in a form that the hub accepts', () =>
      inRuns(50).forAllAsync(fc.jsonValue(), anyText(), async (value, message) => {
        hub = new StrictHub();
        const result = JSON.parse(JSON.stringify({ value, text: message, bad: BAD }));
        const failure = { class: 'crashed' as const, message };
        const own = new Journal(`${folder}/${Math.random()}.jsonl`);
        const { delivered } = await open({ journal: own }).finish({ status: 'failed', result, failure });
        own.close();
        assert.ok(delivered);
      }));
  });
});

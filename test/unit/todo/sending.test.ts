import assert from 'node:assert/strict';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { StaleWriteError, type Versioned } from '../../../functions/src/kernel/commit.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import { type Reminder, reminderAt } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { sendReminders } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { START, sampleTodo, versionOf } from '../../support/builders.ts';
import { portsOf } from '../../support/ports.ts';

/** Reminders that are due at the same time. `refuses` selects the commits that fail with a conflict. */
class Outbox {
  readonly sent: string[] = [];
  commits = 0;
  private readonly due: readonly Versioned<Reminder>[];
  private readonly refuses: (changes: readonly Change[]) => boolean;

  constructor(count: number, refuses: (changes: readonly Change[]) => boolean = () => false) {
    this.refuses = refuses;
    this.due = Array.from({ length: count }, (_, index) => {
      const todo = sampleTodo({ id: String(index).padStart(6, '0') });
      return { ...versionOf('reminder'), value: reminderAt(todo, START) };
    });
  }

  send(milliseconds?: number): Promise<void> {
    return sendReminders(this.ports, milliseconds);
  }

  private get ports(): TodoPorts {
    return portsOf<TodoPorts>({
      clock: { now: () => START },
      log: { info: () => undefined, error: () => undefined },
      reminders: {
        due: async (_now, { limit, after }) => {
          const rest = this.due.filter(({ value }) => after === undefined || value.id > after.id);
          const found = rest.slice(0, limit).map((item) => ({ item, place: { at: START, id: item.value.id } }));
          return { found, next: rest.length > limit ? found.at(-1)?.place : undefined };
        },
      },
      todos: {
        find: async (id) => versionOf(sampleTodo({ id })),
        findAll: async (ids) => ids.map((id) => versionOf(sampleTodo({ id }))),
      },
      taskHistory: { find: async () => undefined },
      store: {
        commit: async (changes) => {
          this.commits += 1;
          if (this.refuses(changes)) throw new StaleWriteError();
          assert.ok(changes.length <= 400, 'a commit has at most 400 changes');
          for (const change of changes) if (change.kind === 'recordEvent') this.sent.push(change.event.taskId);
        },
      },
    });
  }
}

describe('scheduled run that sends reminders', () => {
  it('sends every reminder that is due exactly once', async () => {
    const outbox = new Outbox(12_345);
    await outbox.send();
    assert.equal(outbox.sent.length, 12_345);
    assert.equal(new Set(outbox.sent).size, 12_345);
    assert.ok(outbox.commits < 300, 'reminders share commits');
  });

  it('ends at its time limit, and leaves the remaining reminders to the next run', async () => {
    const outbox = new Outbox(5000);
    await outbox.send(0);
    assert.ok(outbox.sent.length > 0 && outbox.sent.length < 5000, String(outbox.sent.length));
  });

  it('sends the other reminders of a commit if one reminder has changed after it was read', async () => {
    const changed = '000007';
    const outbox = new Outbox(300, (changes) =>
      changes.some((change) => change.kind === 'moveReminder' && change.reminder.id === changed),
    );
    await outbox.send();
    assert.equal(outbox.sent.length, 299);
    assert.ok(!outbox.sent.includes(changed));
  });
});

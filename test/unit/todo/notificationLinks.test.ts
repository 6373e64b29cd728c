import assert from 'node:assert/strict';
import { PAGES, SCREENS, SHOWN_QUESTION } from '../../../console/src/shell/screens.ts';
import { ConsoleLinks } from '../../../functions/src/kernel/consoleLinks.ts';
import { emailOf, notificationOf } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { EVENT_TYPES, type TaskEvent, TOPICS, topicsOf } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';

const ORIGIN = 'https://console.example';
const links = new ConsoleLinks(ORIGIN);

const eventOf = (type: TaskEvent['type'], after: TaskEvent['after'] = { workspace: 'team' }): TaskEvent => ({
  id: `event-${type}`,
  type,
  taskId: 'a thing/of "mine"',
  userId: 'ada',
  timestamp: new Date(0),
  before: null,
  after,
  changes: [],
});

/** Returns the name of the console page that an address opens. */
function pageAt(address: string): string {
  const { pathname, origin } = new URL(address);
  assert.equal(origin, ORIGIN);
  const [first = '', id, ...more] = pathname.split('/').slice(1);
  assert.deepEqual(more, []);
  if (id === undefined) return SCREENS.find(({ path }) => path === first)?.title ?? 'no page';
  const found = Object.entries(PAGES).find(([, path]) => path === first);
  return found === undefined ? 'no page' : `${found[0]} ${decodeURIComponent(id)}`;
}

describe('links in notifications', () => {
  const notified = EVENT_TYPES.filter((type) => topicsOf({ type }).includes(TOPICS.reminders));

  it('are tested for every type of event that notifies people', () =>
    assert.deepEqual(notified, ['reminder', 'question']));

  for (const type of notified)
    it(`about ${type} lead to a page of the console, and are part of the email`, () => {
      const notification = notificationOf(eventOf(type), links);
      assert.ok(notification, 'people are notified of it');
      assert.notEqual(pageAt(notification.link), 'no page');
      assert.ok(emailOf(notification).text.split('\n').includes(notification.link));
    });

  it('about a reminder lead to its to-do, for any id', () => {
    const link = notificationOf(eventOf('reminder'), links)?.link ?? '';
    assert.equal(pageAt(link), 'todo a thing/of "mine"');
  });

  it('about a question lead to the page on which a person answers the question, in its workspace', () => {
    const link = notificationOf(eventOf('question'), links)?.link ?? '';
    assert.equal(pageAt(link), 'Needs you');
    const asked = new URL(link).searchParams;
    assert.deepEqual([asked.get(SHOWN_QUESTION), asked.get('workspace')], ['a thing/of "mine"', 'team']);
  });

  it('keep the origin that is configured, for any id and any name', () => {
    for (const id of ['//evil.example', 'https://evil.example/', '..', '@evil.example', '?a=b#c', '\\\\evil']) {
      const things = [
        { kind: 'todo', id },
        { kind: 'request', id, workspace: id },
        { kind: 'workspace', workspace: id },
      ] as const;
      for (const thing of things) assert.equal(new URL(links.to(thing)).origin, ORIGIN, id);
    }
  });
});

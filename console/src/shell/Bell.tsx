/** Menu of the items that wait for the person, which also turns on notifications of the browser. */
import { needsYou } from '../../text/needsYou.ts';
import { shell } from '../../text/shell.ts';
import { moment, plural } from '../../ui/format.ts';
import { Icon } from '../../ui/Icon.tsx';
import type { IconName } from '../../ui/icons.ts';
import { Entry, Menu } from '../../ui/Menu.tsx';
import { UserText } from '../../ui/UserText.tsx';
import { rowsOf } from '../live/states.ts';
import { now } from '../live/time.ts';
import { tellError } from '../parts/acting.tsx';
import { titleOf } from '../parts/taskState.ts';
import { addressOf } from '../router.ts';
import { notificationState, turnOnNotifications } from './notifications.ts';
import { PAGES, SHOWN_QUESTION } from './screens.ts';
import type { Waiting } from './useWaiting.ts';

const SHOWN = 6;

export function Bell({ waiting }: { readonly waiting: Waiting }) {
  const entries = entriesOf(waiting);
  const { count } = waiting;
  const label = count === 0 ? shell.notifications : plural(count, shell.waiting);
  return (
    <Menu
      class="bell"
      button="b quiet only"
      label={label}
      summary={
        <>
          <Icon of="bell" />
          {count > 0 && <span class="dot" />}
        </>
      }>
      <p class="label">{count === 0 ? shell.nothingWaiting : label}</p>
      {entries.slice(0, SHOWN).map(({ icon, title, at, href }) => (
        <Entry
          key={href}
          icon={icon}
          label={<UserText text={title} limit={120} />}
          hint={moment(at, now.value)}
          href={href}
        />
      ))}
      <hr />
      {notificationState.value === 'default' && (
        <Entry icon="bell" label={shell.turnOn} choose={() => void turnOnNotifications().catch(tellError)} />
      )}
      {notificationState.value === 'denied' && <p class="hint">{shell.blocked}</p>}
      <Entry icon="inbox" label={shell.toNeedsYou} href={addressOf([])} />
    </Menu>
  );
}

interface BellEntry {
  readonly icon: IconName;
  readonly title: string;
  readonly at: Date;
  readonly href: string;
}

/** Newest first. */
function entriesOf({ requests, failed, overdue }: Waiting): readonly BellEntry[] {
  const asked = rowsOf(requests).map(({ id, kind, question, created_at }) => ({
    icon: kind === 'approval' ? ('approve' as const) : ('question' as const),
    title: question,
    at: created_at,
    href: addressOf([], { [SHOWN_QUESTION]: id }),
  }));
  const failures = rowsOf(failed).map((task) => ({
    icon: 'warn' as const,
    title: `${needsYou.taskFailed}: ${titleOf(task)}`,
    at: task.completed_at ?? task.created_at,
    href: addressOf([PAGES.task, task.id]),
  }));
  const late = overdue.map(({ id, title, due_date, created_at }) => ({
    icon: 'calendar' as const,
    title,
    at: due_date ?? created_at,
    href: addressOf([PAGES.todo, id]),
  }));
  return [...asked, ...failures, ...late].sort((one, other) => other.at.getTime() - one.at.getTime());
}

/** Title of an item by its id, as a link to its page. Until it is known, a placeholder is shown. */
import type { ComponentChildren } from 'preact';
import { common } from '../../text/common.ts';
import { UserText } from '../../ui/UserText.tsx';
import { agentDocument, taskDocument, todoDocument } from '../live/documents.ts';
import { useLive } from '../live/live.ts';
import * as queries from '../live/queries.ts';
import { document } from '../live/sources.ts';
import type { Live } from '../live/states.ts';
import { addressOf } from '../router.ts';
import { PAGES } from '../shell/screens.ts';
import { stateOf, titleOf } from './taskState.ts';

export interface TitleProps {
  readonly id: string;
  /** Content if the item cannot be read; by default, that it is private or deleted. */
  readonly otherwise?: ComponentChildren;
  readonly limit?: number;
}

export function TaskTitle({ id, otherwise, limit = 120 }: TitleProps) {
  const live = useLive(document(queries.task(id), taskDocument));
  return (
    <Linked live={live} href={addressOf([PAGES.task, id])} titleOf={titleOf} otherwise={otherwise} limit={limit} />
  );
}

export function TodoTitle({ id, otherwise, limit = 120 }: TitleProps) {
  const live = useLive(document(queries.todo(id), todoDocument));
  return (
    <Linked
      live={live}
      href={addressOf([PAGES.todo, id])}
      titleOf={({ title }) => title}
      otherwise={otherwise}
      limit={limit}
    />
  );
}

export function AgentTitle({ id, otherwise, limit = 60 }: TitleProps) {
  const live = useLive(document(queries.agent(id), agentDocument));
  return (
    <Linked
      live={live}
      href={addressOf([PAGES.agent, id])}
      titleOf={({ name }) => name}
      otherwise={otherwise}
      limit={limit}
    />
  );
}

/** State of a task by its id; undefined until it is known. */
export function useTaskState(id: string): string | undefined {
  const live = useLive(document(queries.task(id), taskDocument));
  return 'value' in live && live.value !== undefined ? stateOf(live.value) : undefined;
}

interface LinkedProps<Value> {
  readonly live: Live<Value | undefined>;
  readonly href: string;
  readonly otherwise: ComponentChildren;
  readonly limit: number;
  titleOf(value: Value): string;
}

export function Linked<Value>({ live, href, titleOf: title, otherwise, limit }: LinkedProps<Value>) {
  if ('value' in live && live.value !== undefined) {
    return (
      <a href={href}>
        <UserText text={title(live.value)} limit={limit} />
      </a>
    );
  }
  if (live.state === 'loading') return <span class="bone word" />;
  return <>{otherwise ?? <span class="faint">{live.state === 'denied' ? common.private : common.deleted}</span>}</>;
}

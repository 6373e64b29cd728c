/** Title of an item by its id, as a link to its page. Until it is known, a placeholder is shown. */
import type { ComponentChildren } from 'preact';
import { common } from '../../text/common.ts';
import { UserText } from '../../ui/UserText.tsx';
import { agentDocument, taskDocument, todoDocument } from '../live/documents.ts';
import { type Source, useLive } from '../live/live.ts';
import * as queries from '../live/queries.ts';
import { document } from '../live/sources.ts';
import { addressOf } from '../router.ts';
import { PAGES } from '../shell/screens.ts';
import { stateOf, titleOf } from './taskState.ts';

export interface TitleProps {
  readonly id: string;
  /** Content if the item cannot be read; by default, that it is private or deleted. */
  readonly otherwise?: ComponentChildren;
  readonly limit?: number;
}

export function TaskTitle(props: TitleProps) {
  const source = document(queries.task(props.id), taskDocument);
  return <Linked {...props} source={source} page={PAGES.task} titleOf={titleOf} />;
}

export function TodoTitle(props: TitleProps) {
  const source = document(queries.todo(props.id), todoDocument);
  return <Linked {...props} source={source} page={PAGES.todo} titleOf={({ title }) => title} />;
}

export function AgentTitle(props: TitleProps) {
  const source = document(queries.agent(props.id), agentDocument);
  return <Linked limit={60} {...props} source={source} page={PAGES.agent} titleOf={({ name }) => name} />;
}

/** State of a task by its id; undefined until it is known. */
export function useTaskState(id: string): string | undefined {
  const live = useLive(document(queries.task(id), taskDocument));
  return 'value' in live && live.value !== undefined ? stateOf(live.value) : undefined;
}

interface LinkedProps<Value> extends TitleProps {
  readonly source: Source<Value | undefined>;
  readonly page: string;
  titleOf(value: Value): string;
}

export function Linked<Value>({ id, source, page, titleOf: title, otherwise, limit = 120 }: LinkedProps<Value>) {
  const live = useLive(source);
  if ('value' in live && live.value !== undefined) {
    return (
      <a href={addressOf([page, id])}>
        <UserText text={title(live.value)} limit={limit} />
      </a>
    );
  }
  if (live.state === 'loading') return <span class="bone word" />;
  return <>{otherwise ?? <span class="faint">{live.state === 'denied' ? common.private : common.deleted}</span>}</>;
}

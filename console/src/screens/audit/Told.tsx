/** The sentence of an event, with names and titles as links. */
import type { ComponentChildren } from 'preact';
import { Fill } from '../../../ui/Fill.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { RunTitle } from '../../parts/RunTitle.tsx';
import { AgentTitle, TaskTitle, TodoTitle } from '../../parts/Title.tsx';
import { Name } from '../../parts/Who.tsx';
import { type AuditEvent, type Part, sentenceOf } from './sentence.ts';

export function Told({ event }: { readonly event: AuditEvent }) {
  const { text, parts } = sentenceOf(event);
  const shown = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, drawn(part)]));
  return <Fill text={text} with={shown} />;
}

const TITLES = { task: TaskTitle, todo: TodoTitle, run: RunTitle, agent: AgentTitle } as const;

function drawn(part: Part): ComponentChildren {
  if (part.kind === 'who') return <Name id={part.id} />;
  if (part.kind === 'text') return <UserText text={part.text} limit={200} />;
  if (part.kind === 'request') return part.title === undefined ? null : <UserText text={part.title} limit={120} />;
  const Title = TITLES[part.kind];
  // A deleted item keeps the title that the event has.
  return (
    <Title
      id={part.id}
      limit={90}
      otherwise={
        part.title === undefined ? undefined : (
          <b>
            <UserText text={part.title} limit={90} />
          </b>
        )
      }
    />
  );
}

/** The day of agents as bars: working, waiting, idle, gone. */
import { useSignal } from '@preact/signals';
import { agents as text } from '../../../text/agents.ts';
import { shell } from '../../../text/shell.ts';
import { fill, timeOfDay } from '../../../ui/format.ts';
import { type Bar, type Lane, Lanes } from '../../../ui/Lanes.tsx';
import { timeTicks } from '../../../ui/ticks.ts';
import type { Agent } from '../../live/documents.ts';
import { calm } from '../../live/time.ts';
import { Bones } from '../../parts/Bones.tsx';
import { More } from '../../parts/More.tsx';
import { Shown } from '../../parts/Notice.tsx';
import { useTaskTitles } from '../../parts/taskTitles.ts';
import { Who } from '../../parts/Who.tsx';
import { addressOf } from '../../router.ts';
import { PAGES } from '../../shell/screens.ts';
import { type DayEvent, dayOfAgent, type WorkSpan } from './day.ts';
import { eventsOf, useDayEvents } from './useDayEvents.ts';

const MAX_TICKS = 12;
/** Lanes that are drawn at first. */
const MAX_LANES = 25;
const TONES = { done: 'good', failed: 'bad', released: 'idle', open: 'busy' } as const;

interface DayOfAgentsProps {
  readonly agents: readonly Agent[];
  /** Whether the lanes have no names, because the page is about one agent. */
  readonly isAlone?: boolean;
}

export function DayOfAgents({ agents, isAlone = false }: DayOfAgentsProps) {
  const present = calm.value;
  const start = new Date(new Date(present).setHours(0, 0, 0, 0));
  const { live, more } = useDayEvents(start, isAlone ? agents[0]?.id : undefined);
  return (
    <Shown live={live} what={text.day.toLowerCase()} bones={<Bones lines={Math.min(agents.length, MAX_LANES)} />}>
      {(pages) => (
        <>
          <Drawn agents={agents} events={eventsOf(pages)} start={start} present={present} isAlone={isAlone} />
          <More what={text.events} more={more} />
        </>
      )}
    </Shown>
  );
}

interface DrawnProps extends DayOfAgentsProps {
  readonly events: readonly DayEvent[];
  readonly start: Date;
  readonly present: number;
}

function Drawn({ agents, events, start, present, isAlone }: DrawnProps) {
  const max = useSignal(MAX_LANES);
  const all = agents
    .map((agent) => {
      const held = Object.keys(agent.held).map((taskId) => ({ taskId, claimedAt: undefined }));
      return { agent, spans: dayOfAgent(agent.id, events, { held, start }) };
    })
    .filter(({ spans }) => spans.length > 0);
  const days = all.slice(0, max.value);
  const titles = useTaskTitles(days.flatMap(({ spans }) => spans.map(({ taskId }) => taskId)));
  const first = Math.min(...days.flatMap(({ spans }) => spans.map(({ from }) => from.getTime())), present - 3_600_000);
  // The line begins with the hour of the first work, so that an empty night takes no space.
  const from = Math.max(start.getTime(), Math.floor(first / 3_600_000) * 3_600_000);
  const share = (at: number) => Math.max(0, Math.min(1, (at - from) / (present - from)));
  const ticks = timeTicks(from, present, MAX_TICKS).map((at) => ({ at: share(at), label: timeOfDay(new Date(at)) }));
  if (days.length === 0) return <p class="pad soft">{text.noWorkToday}</p>;
  const lanes = days.map(({ agent, spans }): Lane => {
    return {
      key: agent.id,
      name: isAlone ? undefined : <Who id={agent.id} />,
      bars: spans.flatMap((span) => barsOf(agent, span, { titles, share, present })),
    };
  });
  return (
    <>
      <Lanes label={text.day} {...(!isAlone && { head: text.agent })} ticks={ticks} lanes={lanes} now={1} />
      <More what={shell.agents.toLowerCase()} more={days.length < all.length ? () => (max.value *= 2) : undefined} />
    </>
  );
}

interface Scale {
  readonly titles: ReadonlyMap<string, string>;
  readonly present: number;
  share(at: number): number;
}

function barsOf(
  agent: Agent,
  { taskId, from, to, end, waits }: WorkSpan,
  { titles, share, present }: Scale,
): readonly Bar[] {
  const task = titles.get(taskId) ?? taskId;
  const until = to?.getTime() ?? present;
  const span = { from: timeOfDay(from), to: timeOfDay(new Date(until)) };
  const work: Bar = {
    tone: TONES[end],
    from: share(from.getTime()),
    to: share(until),
    words: task,
    title: fill(text.bars.working, { agent: agent.name, task, ...span }),
    href: addressOf([PAGES.task, taskId]),
  };
  const waiting = waits.map((wait): Bar => {
    const [begin, stop] = [wait.from.getTime(), wait.to?.getTime() ?? until];
    return {
      tone: 'wait',
      from: share(begin),
      to: share(stop),
      title: fill(text.bars.waiting, { agent: agent.name, from: timeOfDay(wait.from), to: timeOfDay(new Date(stop)) }),
    };
  });
  return [work, ...waiting];
}

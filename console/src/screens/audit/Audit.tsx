/** Audit log: who changed what, in sentences for each day, with undo. */
import { useSignal } from '@preact/signals';
import { audit as text } from '../../../text/audit.ts';
import { shell } from '../../../text/shell.ts';
import { exactTime, fill, localInstant, longDayOf, timeOfDay } from '../../../ui/format.ts';
import { Icon } from '../../../ui/Icon.tsx';
import { UserText } from '../../../ui/UserText.tsx';
import { act } from '../../calls/tools.ts';
import { usePages } from '../../calls/useResponse.ts';
import { now } from '../../live/time.ts';
import { AgentSelect } from '../../parts/AgentSelect.tsx';
import { ActionButton } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { Choices } from '../../parts/Choices.tsx';
import { DialogButton } from '../../parts/DialogButton.tsx';
import { More } from '../../parts/More.tsx';
import { Near } from '../../parts/Near.tsx';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { useName, Who } from '../../parts/Who.tsx';
import { ask, parameter, workspace } from '../../router.ts';
import { mayAs } from '../../shell/role.ts';
import { Change } from './Change.tsx';
import { type AuditFilter, askAudit, type Event } from './events.ts';
import { joined } from './joined.ts';
import { Outcome, outcome, type UndoOutcome } from './Outcome.tsx';
import { Told } from './Told.tsx';

const WHOSE = [
  ['mine', text.mine],
  ['workspace', text.everyone],
] as const;

const PAGE = 50;

export function Audit() {
  const of = WHOSE.find(([name]) => name === parameter('of'))?.[0] ?? 'mine';
  const agent = parameter('agent');
  const thing = parameter('thing');
  const since = parameter('since');
  const asked: AuditFilter = {
    of,
    ...(thing !== undefined ? { thing } : agent !== undefined && { agent_id: agent }),
    ...(since !== undefined && !Number.isNaN(Date.parse(since)) && { since: new Date(since).toISOString() }),
  };
  const { live, refetch, more } = usePages(
    JSON.stringify([workspace.value, asked]),
    (cursor) => askAudit(asked, PAGE, cursor),
    ({ nextCursor }) => nextCursor,
  );
  const undone = useSignal<UndoOutcome | undefined>(undefined);

  async function undo(what: Readonly<Record<string, unknown>>): Promise<void> {
    undone.value = undefined;
    undone.value = await act('system.undo', what, outcome);
    refetch();
  }

  const actions = (
    <>
      {mayAs('leader') && (
        <Choices
          legend={text.whose}
          options={WHOSE}
          chosen={of}
          choose={(name) => ask('of', name === 'mine' ? undefined : name)}
        />
      )}
      {agent !== undefined && <UndoSince agent={agent} undo={undo} />}
    </>
  );
  return (
    <Page title={shell.audit} actions={actions}>
      <Filters agent={agent} thing={thing} since={since} />
      {undone.value !== undefined && <Outcome of={undone.value} />}
      <Shown live={live} what={shell.audit.toLowerCase()} bones={<Bones lines={8} />}>
        {(pages) => <Days events={pages.flatMap(({ events }) => events)} undo={undo} />}
      </Shown>
      <More label={text.older} more={more} />
    </Page>
  );
}

interface FiltersProps {
  readonly agent: string | undefined;
  readonly thing: string | undefined;
  readonly since: string | undefined;
}

function Filters({ agent, thing, since }: FiltersProps) {
  return (
    <div class="filters">
      <AgentSelect
        aria-label={text.agent}
        value={agent ?? ''}
        options={[['', text.allAgents]]}
        choose={(value) => ask('agent', value === '' ? undefined : value)}
      />
      <label class="line">
        <span class="label">{text.since}</span>
        <input
          class="input short"
          type="datetime-local"
          value={since ?? ''}
          onChange={({ currentTarget: { value } }) => ask('since', value === '' ? undefined : value)}
        />
      </label>
      {thing !== undefined && (
        <button type="button" class="chip" aria-pressed="true" onClick={() => ask('thing', undefined)}>
          <UserText text={thing} limit={60} />
          <Icon of="cross" small />
        </button>
      )}
    </div>
  );
}

interface UndoProps {
  undo(what: Readonly<Record<string, unknown>>): Promise<void>;
}

function Days({ events, undo }: UndoProps & { readonly events: readonly Event[] }) {
  if (events.length === 0) return <Empty icon="audit" title={text.noActivity} />;
  const days = new Map<string, Event[]>();
  for (const event of joined(events)) {
    const day = longDayOf(new Date(event.at));
    days.set(day, [...(days.get(day) ?? []), event]);
  }
  return (
    <div>
      {[...days].map(([day, members]) => (
        <section key={day} aria-label={day}>
          <h2 class="day">{day}</h2>
          <ol>
            {members.map((event) => (
              <Near key={event.event_id} class="log-line">
                <Line event={event} undo={undo} />
              </Near>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

function Line({ event, undo }: UndoProps & { readonly event: Event }) {
  const isOpen = useSignal(false);
  const at = new Date(event.at);
  const isUndone = event.undone_by !== undefined;
  return (
    <>
      <time dateTime={event.at} title={exactTime(at)}>
        {timeOfDay(at)}
      </time>
      <Who id={event.by} isOnlyPicture />
      <p class={isUndone ? 'text undone' : 'text'}>
        <Told event={event} />
        {event.app !== undefined && <span class="faint"> {fill(text.via, { app: event.app })}</span>}
        {event.undoes !== undefined && <span class="tag">{text.undoTag}</span>}
        {isUndone && <span class="tag">{text.undone}</span>}
      </p>
      <span class="acts">
        <button
          type="button"
          class="b quiet small only"
          aria-label={text.details}
          title={text.details}
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}>
          <Icon of={isOpen.value ? 'down' : 'next'} small />
        </button>
        {!isUndone && (
          <ActionButton
            small
            kind="quiet"
            icon="undo"
            label={text.undo}
            act={() => undo({ event_id: event.event_id })}
          />
        )}
      </span>
      {isOpen.value && (
        <div class="more">
          <p class="meta">
            <span>
              {`${text.tool} `}
              <code>{event.tool}</code>
            </span>
          </p>
          {event.changes.map((change) => (
            <Change key={`${change.kind} ${change.id}`} change={change} />
          ))}
        </div>
      )}
    </>
  );
}

const HOUR = 3_600_000;

/** Button that opens a dialog: what an agent did since a time is undone, unless it has changed since. */
function UndoSince({ agent, undo }: UndoProps & { readonly agent: string }) {
  const { name } = useName(agent);
  const since = useSignal(localInstant(new Date(now.peek() - HOUR)));
  return (
    <DialogButton
      title={text.undoSince}
      heading={fill(text.undoAll, { agent: name, time: since.value.replace('T', ' ') })}
      icon="undo"
      action={{
        label: text.undo,
        kind: 'danger',
        disabled: since.value === '',
        done: text.undone,
        act: () => undo({ agent_id: agent, since: new Date(since.value).toISOString() }),
      }}>
      <p class="soft">{text.undoAllHint}</p>
      <TextField label={text.since} type="datetime-local" of={since} />
    </DialogButton>
  );
}

/** Audit log: actor, app and tool of each change, with undo. */
import { useSignal } from '@preact/signals';
import { z } from 'zod/mini';
import { act, callTool } from '../../calls/tools.ts';
import { useResponse } from '../../calls/useResponse.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { Choices } from '../../parts/Choices.tsx';
import { localInstant } from '../../parts/dates.ts';
import { Empty, Shown } from '../../parts/Notice.tsx';
import { Ago } from '../../parts/Status.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { addressOf, ask, parameter, workspace } from '../../router.ts';
import { Change, change } from './Change.tsx';
import { Outcome, outcome } from './Outcome.tsx';

const audit = z.object({
  events: z.array(
    z.object({
      event_id: z.string(),
      at: z.string(),
      by: z.string(),
      on_behalf_of: z.string(),
      app: z.exactOptional(z.string()),
      run_id: z.exactOptional(z.string()),
      tool: z.string(),
      workspace: z.string(),
      changes: z.array(change),
      undoes: z.exactOptional(z.string()),
      undone_by: z.exactOptional(z.string()),
    }),
  ),
  nextCursor: z.exactOptional(z.string()),
});
type Audited = z.output<typeof audit>['events'][number];

const WHOSE = [
  ['mine', 'Mine and my agents’'],
  ['workspace', 'Everyone'],
] as const;

export function Audit() {
  const whose = WHOSE.find(([name]) => name === parameter('of'))?.[0] ?? 'mine';
  const agent = parameter('agent');
  const thing = parameter('thing');
  const cursors = useSignal<readonly string[]>([]);
  const asked = {
    of: whose,
    limit: 50,
    ...(agent !== undefined && { agent_id: agent }),
    ...(thing !== undefined && { thing }),
    ...(cursors.value.length > 0 && { cursor: cursors.value.at(-1) }),
  };
  const key = JSON.stringify([workspace.value, asked]);
  const { live, refetch } = useResponse(key, () => callTool('system.getAudit', asked, audit));
  const taken = useSignal<z.output<typeof outcome> | undefined>(undefined);

  async function takeBack(what: Readonly<Record<string, unknown>>): Promise<void> {
    taken.value = undefined;
    taken.value = await act('system.undo', what, outcome);
    refetch();
  }

  return (
    <>
      <div class="title">
        <h1>Audit</h1>
        <Choices
          legend="Whose"
          options={WHOSE}
          chosen={whose}
          choose={(name) => {
            cursors.value = [];
            ask('of', name === 'mine' ? undefined : name);
          }}
        />
      </div>
      {agent !== undefined && (
        <div class="acts">
          <p>
            Only what <UserText text={agent} /> has done. <a href={addressOf(['audit'])}>All</a>
          </p>
          <UndoSince agent={agent} takeBack={takeBack} />
        </div>
      )}
      {taken.value !== undefined && <Outcome of={taken.value} />}
      <Shown live={live}>
        {({ events, nextCursor }) => (
          <>
            {events.length === 0 && <Empty title="Nothing has happened that is kept." />}
            <ol class="plain rows">
              {events.map((event) => (
                <li key={event.event_id}>
                  <Entry event={event} takeBack={() => takeBack({ event_id: event.event_id })} />
                </li>
              ))}
            </ol>
            <p class="acts">
              {cursors.value.length > 0 && (
                <button type="button" onClick={() => (cursors.value = cursors.value.slice(0, -1))}>
                  Newer
                </button>
              )}
              {nextCursor !== undefined && (
                <button type="button" onClick={() => (cursors.value = [...cursors.value, nextCursor])}>
                  Older
                </button>
              )}
            </p>
          </>
        )}
      </Shown>
    </>
  );
}

interface UndoSinceProps {
  readonly agent: string;
  takeBack(what: Readonly<Record<string, unknown>>): Promise<void>;
}

const HOUR = 3_600_000;

function UndoSince({ agent, takeBack }: UndoSinceProps) {
  const typed = useSignal(localInstant(new Date(Date.now() - HOUR)));
  return (
    <div class="write">
      <label>
        Since
        <input
          type="datetime-local"
          step="1"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
      </label>
      <ActionButton
        label="Take back what it has done since"
        kind="danger"
        disabled={typed.value === ''}
        consequence={`Undoes the changes of ${agent} since then that nothing has overwritten. The rest are listed.`}
        act={() => takeBack({ agent_id: agent, since: new Date(typed.value).toISOString() })}
      />
    </div>
  );
}

function Entry({ event, takeBack }: { readonly event: Audited; takeBack(): Promise<void> }) {
  return (
    <>
      <p>
        <Ago at={new Date(event.at)} /> <UserText text={event.by} /> · <code>{event.tool}</code>
        {event.app !== undefined && (
          <span class="soft">
            {' by '}
            <UserText text={event.app} />
          </span>
        )}
        {event.undoes !== undefined && <span class="tag">undo</span>}
        {event.undone_by !== undefined && <span class="tag">undone</span>}
      </p>
      {event.changes.map((one, index) => (
        <Change key={`${index} ${one.kind} ${one.id}`} change={one} />
      ))}
      {event.undone_by === undefined && (
        <ActionButton
          label="Take it back"
          consequence="Only changes that nothing has overwritten are undone; the rest are listed."
          act={takeBack}
        />
      )}
    </>
  );
}

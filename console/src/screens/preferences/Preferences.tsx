/** Notification preferences, and agents that may answer for the person. The page writes them to the database. */
import { useSignal } from '@preact/signals';
import { agentDocument, type Preferences as Preferred, preferencesDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf, preferences as preferencesQuery } from '../../live/queries.ts';
import { document, setDocument } from '../../live/sources.ts';
import { ActionButton } from '../../parts/ActionButton.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Card, Shown } from '../../parts/Notice.tsx';
import { UserText } from '../../parts/UserText.tsx';
import { workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';

/** Four weeks, which is also the maximum in the security rules. */
const MAX_MINUTES = 40_320;
const DEFAULTS = preferencesDocument.parse({});

export function Preferences({ person }: { readonly person: Person }) {
  const live = useLive(document(preferencesQuery(person.uid), preferencesDocument));
  return (
    <>
      <h1>Preferences</h1>
      <Shown live={live}>
        {(stored = DEFAULTS) => <Chosen key={JSON.stringify(stored)} person={person} stored={stored} />}
      </Shown>
    </>
  );
}

function Chosen({ person, stored }: { readonly person: Person; readonly stored: Preferred }) {
  const wanted = useSignal(stored);
  const minutes = useSignal(String(stored.reminder_lead_minutes));
  const isPossible = /^\d+$/.test(minutes.value) && Number(minutes.value) <= MAX_MINUTES;
  const change = (more: Partial<Preferred>) => {
    wanted.value = { ...wanted.value, ...more };
  };
  return (
    <>
      <Card title="Being told">
        <div class="edit">
          <label>
            Minutes before a to-do is due
            <input
              inputMode="numeric"
              value={minutes.value}
              aria-invalid={!isPossible}
              onInput={(event) => (minutes.value = event.currentTarget.value)}
            />
          </label>
          <Choice label="On my devices" isOn={wanted.value.push} set={(push) => change({ push })} />
          <Choice label="By mail" isOn={wanted.value.email} set={(email) => change({ email })} />
        </div>
        {!isPossible && <p class="error">A whole number of minutes, at most four weeks: {MAX_MINUTES}.</p>}
      </Card>
      <Answering
        person={person}
        chosen={wanted.value.agents_may_answer}
        choose={(agents) => change({ agents_may_answer: [...agents] })}
      />
      <p class="acts">
        <ActionButton
          label="Save"
          kind="primary"
          disabled={!isPossible}
          act={() =>
            setDocument(preferencesQuery(person.uid), { ...wanted.value, reminder_lead_minutes: Number(minutes.value) })
          }
        />
      </p>
    </>
  );
}

interface AnsweringProps {
  readonly person: Person;
  readonly chosen: readonly string[];
  choose(agents: readonly string[]): void;
}

function Answering({ person, chosen, choose }: AnsweringProps) {
  const agents = usePaged(agentsOf(workspace.value), agentDocument);
  return (
    <Card title="Who may answer questions for me">
      <Shown live={agents.live}>
        {({ rows }) => {
          const own = rows.filter(({ owner_uid: owner }) => owner === person.uid);
          const elsewhere = chosen.filter((id) => own.every((agent) => agent.id !== id));
          return (
            <>
              {own.length === 0 && <p class="soft">This workspace is not the home workspace of any of your agents.</p>}
              {own.map((agent) => (
                <Choice
                  key={agent.id}
                  label={agent.name}
                  isOn={chosen.includes(agent.id)}
                  set={(isOn) => choose(isOn ? [...chosen, agent.id] : chosen.filter((id) => id !== agent.id))}
                />
              ))}
              {elsewhere.length > 0 && (
                <p class="soft">
                  {agents.more === undefined ? 'And of other workspaces: ' : 'And others: '}
                  <UserText text={elsewhere.join(', ')} />
                </p>
              )}
            </>
          );
        }}
      </Shown>
      <MoreOf what="agents" of={agents} />
    </Card>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly isOn: boolean;
  set(isOn: boolean): void;
}

function Choice({ label, isOn, set }: ChoiceProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={(event) => set(event.currentTarget.checked)} />{' '}
      <UserText text={label} />
    </label>
  );
}

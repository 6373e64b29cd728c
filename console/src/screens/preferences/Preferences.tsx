/** Notification preferences, and agents that may answer for the person. The page writes them to the database. */
import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { common } from '../../../text/common.ts';
import { preferences as text } from '../../../text/preferences.ts';
import { shell } from '../../../text/shell.ts';
import { fill } from '../../../ui/format.ts';
import { UserText } from '../../../ui/UserText.tsx';
import { agentDocument, type Preferences as Preferred, preferencesDocument } from '../../live/documents.ts';
import { useLive } from '../../live/live.ts';
import { usePaged } from '../../live/paged.ts';
import { agentsOf, preferences as preferencesQuery } from '../../live/queries.ts';
import { document, setDocument } from '../../live/sources.ts';
import { Switch } from '../../parts/ActionFields.tsx';
import { ActionButton } from '../../parts/acting.tsx';
import { Bones } from '../../parts/Bones.tsx';
import { MoreOf } from '../../parts/More.tsx';
import { Section, Shown } from '../../parts/Notice.tsx';
import { Page } from '../../parts/Page.tsx';
import { TextField } from '../../parts/TextField.tsx';
import { Name } from '../../parts/Who.tsx';
import { workspace } from '../../router.ts';
import type { Person } from '../../session/session.ts';
import { notificationState, turnOnNotifications } from '../../shell/notifications.ts';
import { isPushOffered, isPushOn, turnOffPush } from '../../shell/pushMessages.ts';

/** Four weeks, which is also the maximum in the security rules. */
const MAX_MINUTES = 40_320;
const DEFAULTS = preferencesDocument.parse({});

export function Preferences({ person }: { readonly person: Person }) {
  const live = useLive(document(preferencesQuery(person.uid), preferencesDocument));
  return (
    <Page title={shell.preferences}>
      <Shown live={live} what={shell.preferences.toLowerCase()} bones={<Bones lines={6} />}>
        {(stored = DEFAULTS) => <Chosen key={JSON.stringify(stored)} person={person} stored={stored} />}
      </Shown>
    </Page>
  );
}

function Chosen({ person, stored }: { readonly person: Person; readonly stored: Preferred }) {
  const wanted = useSignal(stored);
  const minutes = useSignal(String(stored.reminder_lead_minutes));
  const isPossible = /^\d+$/.test(minutes.value) && Number(minutes.value) <= MAX_MINUTES;
  const chosen = { ...wanted.value, reminder_lead_minutes: Number(minutes.value) };
  const isChanged = JSON.stringify(chosen) !== JSON.stringify(stored);
  const change = (more: Partial<Preferred>) => {
    wanted.value = { ...wanted.value, ...more };
  };
  return (
    <div class="stack prose">
      <Section title={text.notifications} isCard>
        <div class="row">
          <TextField
            label={text.lead}
            hint={text.leadHint}
            error={isPossible ? '' : text.badLead}
            inputMode="numeric"
            of={minutes}
          />
        </div>
        <div class="row">
          <Switch hint={text.pushHint} isOn={wanted.value.push} set={(push) => change({ push })}>
            {text.push}
          </Switch>
        </div>
        <div class="row">
          <Switch
            hint={fill(text.emailHint, { email: person.email })}
            isOn={wanted.value.email}
            set={(email) => change({ email })}>
            {text.email}
          </Switch>
        </div>
        <BrowserNotifications />
      </Section>
      <Answering
        person={person}
        chosen={wanted.value.agents_may_answer}
        choose={(agents) => change({ agents_may_answer: [...agents] })}
      />
      <p class="acts">
        <ActionButton
          kind="primary"
          label={common.save}
          disabled={!isPossible || !isChanged}
          done={text.saved}
          act={() => setDocument(preferencesQuery(person.uid), chosen)}
        />
      </p>
    </div>
  );
}

function BrowserNotifications() {
  const state = notificationState.value;
  if (state === 'unsupported') return null;
  const isOffered = isPushOffered();
  const isOn = state === 'granted' && (!isOffered || isPushOn.value);
  return (
    <div class="row">
      <div class="grow">
        <p>{text.browser}</p>
        <p class="hint">{isOffered ? text.browserPushHint : text.browserHint}</p>
      </div>
      {state === 'denied' && <span class="tag">{text.isBlocked}</span>}
      {isOn && <span class="tag good">{text.isOn}</span>}
      {isOn && isOffered && <ActionButton small label={text.turnOff} act={turnOffPush} />}
      {state !== 'denied' && !isOn && <ActionButton small label={text.turnOn} act={turnOnNotifications} />}
    </div>
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
    <Section title={text.answering} isCard>
      <p class="row hint">{text.answeringHint}</p>
      <Shown live={agents.live} what={shell.agents.toLowerCase()}>
        {({ rows }) => {
          const own = rows.filter(({ owner_uid: owner }) => owner === person.uid);
          const elsewhere = chosen.filter((id) => own.every((agent) => agent.id !== id));
          return (
            <>
              {own.length === 0 && <p class="row soft">{text.noAgents}</p>}
              {own.map((agent) => (
                <div key={agent.id} class="row">
                  <Switch
                    isOn={chosen.includes(agent.id)}
                    set={(isOn) => choose(isOn ? [...chosen, agent.id] : chosen.filter((id) => id !== agent.id))}>
                    <UserText text={agent.name} />
                  </Switch>
                </div>
              ))}
              {elsewhere.length > 0 && (
                <p class="row soft">
                  {fill(text.elsewhere, { names: '' })}
                  {elsewhere.map((id, index) => (
                    <Fragment key={id}>
                      {index > 0 && ', '}
                      <Name id={id} />
                    </Fragment>
                  ))}
                </p>
              )}
            </>
          );
        }}
      </Shown>
      <MoreOf what={shell.agents.toLowerCase()} of={agents} />
    </Section>
  );
}

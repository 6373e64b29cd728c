/** Page for signed-out people. */
import { useSignal } from '@preact/signals';
import { signIn as text } from '../../text/signIn.ts';
import { fill } from '../../ui/format.ts';
import { Mark } from '../../ui/Mark.tsx';
import type { SeededPerson } from '../deployment.ts';
import { Field } from '../parts/Field.tsx';
import { connection, sendLink, session, withLink, withPassword } from './session.ts';

type Way = 'password' | 'link';

export function SignIn() {
  const way = useSignal<Way>('password');
  const said = useSignal<{ kind: 'error' | 'done'; text: string } | undefined>(undefined);
  const isBusy = useSignal(false);

  /** Allows only one attempt at a time. */
  async function attempt(act: () => Promise<void>, done?: string) {
    isBusy.value = true;
    said.value = undefined;
    try {
      await act();
      if (done !== undefined) said.value = { kind: 'done', text: done };
    } catch (error) {
      said.value = { kind: 'error', text: error instanceof Error ? error.message : String(error) };
    } finally {
      isBusy.value = false;
    }
  }

  const isOpenedByLink = session.value.state === 'addressWanted';
  const shown = isOpenedByLink ? 'address' : way.value;
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const email = String(form.get('email') ?? '').trim();
    const password = String(form.get('password') ?? '');
    if (shown === 'address') return attempt(() => withLink(email));
    if (shown === 'password') return attempt(() => withPassword(email, password));
    return attempt(() => sendLink(email), fill(text.sent, { email }));
  };

  const other = way.value === 'password' ? 'link' : 'password';
  return (
    <main class="door">
      <div class="card">
        <Mark />
        <div>
          <h1>{text.title}</h1>
          <p class="soft">{isOpenedByLink ? text.which : text.lead}</p>
        </div>
        <form class="stack" onSubmit={submit}>
          <Field label={text.email}>
            {(field) => <input {...field} name="email" type="email" autocomplete="username" required />}
          </Field>
          {shown === 'password' && (
            <Field label={text.password}>
              {(field) => <input {...field} name="password" type="password" autocomplete="current-password" required />}
            </Field>
          )}
          <button type="submit" class="b primary wide" disabled={isBusy.value}>
            {shown === 'link' ? text.sendLink : text.signIn}
          </button>
          {!isOpenedByLink && (
            <button
              type="button"
              class="b quiet wide"
              onClick={() => {
                way.value = other;
                said.value = undefined;
              }}>
              {other === 'link' ? text.sendLink : text.usePassword}
            </button>
          )}
          <p role="status" class={said.value?.kind === 'error' ? 'hint bad' : 'hint'}>
            {said.value?.text}
          </p>
        </form>
        {import.meta.env.MODE === 'emulators' && (
          <SeededPeople
            people={connection().deployment.people ?? []}
            isBusy={isBusy.value}
            choose={({ email, password }) => attempt(() => withPassword(email, password))}
          />
        )}
      </div>
    </main>
  );
}

interface SeededPeopleProps {
  readonly people: readonly SeededPerson[];
  readonly isBusy: boolean;
  choose(person: SeededPerson): void;
}

/** Builds for deployment omit this component. A test checks that. */
function SeededPeople({ people, isBusy, choose }: SeededPeopleProps) {
  return (
    <section class="stack" aria-label={text.demo}>
      <p class="or">{text.or}</p>
      <p class="hint">{text.demo}</p>
      {people.map((person) => (
        <button key={person.email} type="button" class="b wide" disabled={isBusy} onClick={() => choose(person)}>
          {fill(text.continueAs, { name: person.name })}
        </button>
      ))}
    </section>
  );
}

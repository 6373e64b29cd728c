/** Page for signed-out people. */
import { useSignal } from '@preact/signals';
import type { SeededPerson } from '../deployment.ts';
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
    return attempt(() => sendLink(email), `A mail is on its way to ${email}. Open the link in it here.`);
  };

  return (
    <main class="signIn">
      <h1>Muster</h1>
      <p>Your agents and your team in one place.</p>
      <form onSubmit={submit}>
        <label>
          E-mail
          <input name="email" type="email" autocomplete="username" required />
        </label>
        {shown === 'password' && (
          <label>
            Password
            <input name="password" type="password" autocomplete="current-password" required />
          </label>
        )}
        <button type="submit" class="primary" disabled={isBusy.value}>
          {shown === 'link' ? 'Send me a link' : 'Sign in'}
        </button>
        {!isOpenedByLink && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              way.value = way.value === 'password' ? 'link' : 'password';
              said.value = undefined;
            }}
          >
            {way.value === 'password' ? 'Send me a link by mail instead' : 'Sign in with a password instead'}
          </button>
        )}
        <p role="status" class={said.value?.kind}>
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
    <section aria-label="Seeded people">
      <p>On this machine, with one click:</p>
      {people.map((person) => (
        <button key={person.email} type="button" disabled={isBusy} onClick={() => choose(person)}>
          {`Sign in as ${person.name}`}
        </button>
      ))}
    </section>
  );
}

import { type ComponentChildren, options, render } from 'preact';
import { signIn as text } from '../text/signIn.ts';
import { fill } from '../ui/format.ts';
import { clearAll, followVisibility } from './live/live.ts';
import { followTime } from './live/time.ts';
import { lazy } from './parts/lazy.tsx';
import { followLinks } from './router.ts';
import { SignIn } from './session/SignIn.tsx';
import { session, startSession } from './session/session.ts';
import { forgetPush } from './shell/pushRecord.ts';
import { startTheme } from './shell/theme.ts';
import '../ui/style/page.css';

/** Modules that only signed-in people need. */
const Shell = lazy(async () => (await import('./shell/Shell.tsx')).Shell);

function Starting({ children }: { readonly children: ComponentChildren }) {
  return (
    <main class="starting">
      <h1 class="away">{text.name}</h1>
      <p>{children}</p>
    </main>
  );
}

function Page() {
  const now = session.value;
  if (now.state === 'starting') return <Starting>{text.starting}</Starting>;
  if (now.state === 'failed') {
    return (
      <Starting>
        <span role="alert">{fill(text.failed, { why: now.why })}</span>
      </Starting>
    );
  }
  if (now.state === 'signedIn') return <Shell key={now.person.uid} person={now.person} />;
  return <SignIn />;
}

const element = document.getElementById('page');
if (element === null) throw new Error('index.html has no element "page".');
startTheme();
followLinks();
followTime();
followVisibility();
session.subscribe(({ state }) => {
  if (state !== 'signedOut') return;
  clearAll();
  void forgetPush();
});
// Snapshots of the databases arrive in groups. By default, Preact would draw the page after each of them.
options.debounceRendering = (render) => setTimeout(render);
element.replaceChildren();
render(<Page />, element);
void startSession();
// Executes modules while the server confirms the sign-in. Where the modules are used, a failure is shown.
for (const early of [import('./shell/Shell.tsx'), import('./live/firestore.ts')]) early.catch(() => undefined);
